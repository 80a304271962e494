import { Collection, CollectionCreate, CollectionUpdate } from '../collections.ts';
import { CollectionReembedQuery, EmbeddingFailure } from '../embedding.ts';
import { Acknowledgement, CountedList, ListQuery, Success, SuccessWithWarnings } from '../envelope.ts';
import { CollectionListQuery } from '../list-queries.ts';
import { describeOperations } from './operation.ts';
import { CollectionParams } from './request-parts.ts';

const response = { 200: Success(Collection) };

export const collectionOperations = describeOperations('collections', {
  createCollection: {
    summary: 'Create a collection',
    description:
      'A collection of type `text` holds documents and texts, one of type `qa` question–answer pairs. The type cannot be changed later. ' +
      '`embedding_model_id` and `capacity` are stored and returned; the configured embedding model is used in every collection.',
    scope: 'collections',
    body: CollectionCreate,
    response: { 200: SuccessWithWarnings(Collection) },
    examples: {
      text: { summary: 'Create a collection of documents', body: { name: 'library', type: 'text' } },
      qa: {
        summary: 'Create a collection of question–answer pairs',
        body: { name: 'faq', type: 'qa', metadata: { team: 'support' } },
      },
    },
  },
  listCollections: {
    summary: 'List collections',
    description: 'Lists the collections of the project, newest first. `name` selects those whose name contains it.',
    scope: 'collections:read',
    querystring: CollectionListQuery,
    response: { 200: CountedList(Collection) },
    examples: { newest: { query: { limit: '10' } } },
  },
  getCollection: {
    summary: 'Get a collection',
    scope: 'collections:read',
    params: CollectionParams,
    response,
    examples: { collection: {} },
  },
  deleteCollection: {
    summary: 'Delete a collection with its records and chunks',
    description: 'The collection disappears immediately; its rows are deleted in the background. Files are kept.',
    scope: 'collections',
    params: CollectionParams,
    response: { 200: Acknowledgement },
    examples: { collection: {} },
  },
  updateCollection: {
    summary: 'Update the name, description, metadata or settings of a collection',
    description:
      'Absent fields keep their values. `metadata` replaces all entries. `embedding_paused` pauses or continues the embedding of its chunks. A change of `chunking` splits its records again in the background; `rechunking` shows the progress.',
    scope: 'collections',
    params: CollectionParams,
    body: CollectionUpdate,
    response: { 200: SuccessWithWarnings(Collection) },
    examples: { rename: { body: { name: 'city library', metadata: { team: 'support' } } } },
  },
  reembedCollection: {
    summary: 'Recompute the vectors of a collection',
    description:
      'Computes the vector of every chunk in the background, with the first configured model or another one. The vectors in use answer questions until every chunk has a new one, and are kept afterwards. To go back, call this with their model: nothing is computed again. A collection has at most two sets of vectors, so a further one replaces the kept set. `dry_run=true` changes nothing and estimates chunks, tokens and cost. The model is tried with one short text first; if it does not work, nothing changes, and the answer is 502 `PROVIDER_ERROR`. ' +
      'Without an embedding model the answer is 501 `NOT_CONFIGURED`.',
    scope: 'collections',
    params: CollectionParams,
    querystring: CollectionReembedQuery,
    response,
    examples: { collection: {} },
  },
  listEmbeddingFailures: {
    summary: 'List the chunks whose text has failed to be embedded',
    description:
      'Lists chunks without a vector, and why: texts that the model refused, and texts that wait for their next attempt. The last failure comes first. Cursors are ids of chunks. Full-text search finds these chunks. ' +
      'Without an embedding model the answer is 501 `NOT_CONFIGURED`.',
    scope: 'collections:read',
    params: CollectionParams,
    querystring: ListQuery,
    response: { 200: CountedList(EmbeddingFailure) },
    examples: { failures: { query: { limit: '10' } } },
  },
  retryEmbeddingFailures: {
    summary: 'Send the failed texts of a collection to the model again',
    description:
      'Makes the next attempt of all failed texts due now, those that the model refused included. They are sent in the background and paid again. Call it after you have corrected the cause, such as the configuration of the model. ' +
      'Without an embedding model the answer is 501 `NOT_CONFIGURED`.',
    scope: 'collections',
    params: CollectionParams,
    response: { 200: Success(Collection) },
    examples: { collection: {} },
  },
});
