import { type TSchema, Type } from 'typebox';
import {
  ChunkQuery,
  CollectionRankings,
  CollectionsQuery,
  GoodMatchAnswer,
  RankingAnswer,
  RerankingAnswer,
} from '../chunk-query.ts';
import { PassageBoxes } from '../citations.ts';
import { Chunk, ChunkCreate, ChunkUpdate } from '../collections.ts';
import { Acknowledgement, CountedList, List, ListQuery, Success, SuccessWithWarnings } from '../envelope.ts';
import { ChunkListQuery } from '../list-queries.ts';
import { Evaluation, EvaluationCreate, ScoredChunk } from '../scored-chunks.ts';
import { describeOperations } from './operation.ts';
import { CollectionParams, PathId, RecordParams } from './request-parts.ts';

const ChunkParams = Type.Object({ collection_id: PathId, chunk_id: PathId });
/** Without `count=true`, `total_count` is null, so that answers stay the same as before counts. ADR 0001. */
const ChunkList = Type.Object({
  ...CountedList(Chunk).properties,
  total_count: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Number of chunks on all pages. null without `count=true`.',
  }),
});
/** The list envelope of questions, whose results are not counted. */
function ScoredList<Item extends TSchema>(item: Item) {
  return Type.Object({ ...List(item).properties, total_count: Type.Null() });
}
const QueryWarnings = {
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Says when chunks match but each is longer than `max_tokens`, and names the unknown members of the request, which were ignored. Absent without a warning.',
    }),
  ),
};
const QueryAnswer = Type.Object({
  ...ScoredList(ScoredChunk).properties,
  ...GoodMatchAnswer,
  ...RankingAnswer,
  ...RerankingAnswer,
  ...QueryWarnings,
});
const CollectionsQueryAnswer = Type.Object({
  ...ScoredList(ScoredChunk).properties,
  ...GoodMatchAnswer,
  rankings: CollectionRankings,
  ...RerankingAnswer,
  ...QueryWarnings,
});

export const chunkOperations = describeOperations('chunks', {
  listChunks: {
    summary: 'List the chunks of a collection',
    description: '`total_count` is always null.',
    scope: 'collections:read',
    params: CollectionParams,
    querystring: ListQuery,
    response: { 200: ChunkList },
    examples: { newest: { query: { limit: '10' } } },
  },
  listChunksOfRecord: {
    summary: 'List the chunks of a record',
    description:
      'With `order=asc`, the chunks are sorted as in the source. `edited=true` lists those that were changed.',
    scope: 'collections:read',
    params: RecordParams,
    querystring: ChunkListQuery,
    response: { 200: ChunkList },
    examples: {
      inOrder: { query: { order: 'asc' } },
      edited: { summary: 'List the edited chunks of a record', query: { edited: 'true', count: 'true' } },
    },
  },
  createChunk: {
    summary: 'Create a chunk without a record',
    description: 'Queries find the chunk immediately. Its `record_id` is null.',
    scope: 'collections',
    params: CollectionParams,
    body: ChunkCreate,
    response: { 200: SuccessWithWarnings(Chunk) },
    examples: { chunk: { body: { content: 'On Sundays the library stays closed.', metadata: { lang: 'en' } } } },
  },
  queryChunks: {
    summary: 'Find the chunks that answer a question',
    description:
      'Returns at most `top_k` chunks (default: 10), best match first. `filters` limits the search by metadata before chunks are ranked. ' +
      'If `has_more` is true, send the id of the last chunk as `after`, with the other members as before, to get the next page. The pages hold the best 50 chunks, or five times `top_k` if that is more. ' +
      'Of chunks with the same text, the answer has the best one; its `equal_chunks` names the others. ' +
      '`max_tokens` limits the tokens of all chunks together. `explain` adds to each chunk why it was found.\n\n' +
      '`score` is a number from 0 to 1 that depends on the collection. It is the fraction of the query that a chunk covers, or its similarity on the same scale: 0.1 can be a perfect answer to a long question. ' +
      '`ranking` names the ranking that answered, and `ranking_reason` says why words alone did. ' +
      'Check the scores of your own queries before you set `score_threshold`. `good_match` is false when no chunk reaches it or, without it, when the collection probably has no answer.\n\n' +
      'A number in a condition also matches metadata that is the same number written as text: with `{"year":"2026"}`, `gt 300` matches. A text is compared character by character: `gt "300"` does not match, because "2" comes before "3".',
    scope: 'collections:read',
    params: CollectionParams,
    body: ChunkQuery,
    response: { 200: QueryAnswer },
    examples: {
      question: { summary: 'Ask a question', body: { query_text: 'When does the library open?', top_k: 3 } },
      filters: {
        summary: 'Ask within chunks that have certain metadata, and explain the ranks',
        body: {
          query_text: 'When does the library open?',
          filters: {
            type: 'and',
            filters: [
              { type: 'eq', key: 'lang', value: 'en' },
              { type: 'gte', key: 'year', value: 2025 },
            ],
          },
          max_tokens: 1000,
          explain: true,
        },
      },
    },
  },
  evaluateCollection: {
    summary: 'Measure how well a collection answers known questions',
    description:
      'Reads a sheet with a question and an expected answer in each row, asks the collection each question, and tells at which place the expected answer was found. ' +
      'What is expected is the title, file name, URL or id of a record, or a text that a chunk contains; case and blanks do not matter. ' +
      'The columns are found as in question–answer sheets: `question` and `expected` or `answer`. ' +
      'If they have other names, the details of the error propose columns in `sheets`, as of a record with code `columns_not_found`. ' +
      'The result is stored until the next evaluation, which is compared with it.',
    scope: 'collections',
    params: CollectionParams,
    body: EvaluationCreate,
    response: { 200: SuccessWithWarnings(Evaluation) },
    examples: { sheet: { body: { file_id: '$SHEET_ID' } } },
  },
  listEvaluations: {
    summary: 'List the evaluations of a collection',
    description: 'Returns the result of the last evaluation. Earlier results are not stored.',
    scope: 'collections:read',
    params: CollectionParams,
    response: { 200: List(Evaluation) },
    examples: { last: {} },
  },
  queryCollections: {
    summary: 'Find the chunks of several collections that answer a question',
    description:
      'Works like queryChunks. `collection_id` of each chunk names its collection, and `rankings` tells how each collection was ranked. ' +
      'Together the collections rank at most 1,000 chunks. If one of them does not exist, the answer is 404.\n\n' +
      'Chunks are sorted by `score`. It is the fraction of the question that a chunk covers. A word counts more in a collection in which it is rare, so the same text can have different scores in two collections. Settings of the question replace the defaults of all its collections.',
    scope: 'collections:read',
    body: CollectionsQuery,
    response: { 200: CollectionsQueryAnswer },
    examples: {
      question: {
        summary: 'Ask a question',
        body: { collection_ids: ['$COLLECTION_ID'], query_text: 'When does the library open?', top_k: 3 },
      },
    },
  },
  getChunk: {
    summary: 'Get a chunk',
    description: '`locator` is the position of the chunk in its source: page, headings, row or characters.',
    scope: 'collections:read',
    params: ChunkParams,
    response: { 200: Success(Chunk) },
    examples: { chunk: {} },
  },
  getChunkBoxes: {
    summary: 'Find the places of a chunk on the pages of its PDF document or picture',
    description:
      'Finds the text of the chunk among the characters of its pages and returns a box for each line. On pages that OCR has read, the boxes are those of the words that it found. A passage that continues in the next column or on the next page has boxes there. ' +
      'The file must still exist.',
    scope: 'collections:read',
    params: ChunkParams,
    response: { 200: Success(PassageBoxes) },
    examples: { boxes: { path: { chunk_id: '$PDF_CHUNK_ID' } } },
  },
  updateChunk: {
    summary: 'Update the text or the metadata of a chunk',
    description:
      'Absent fields keep their values. A passage has `content`, a question-answer pair `question` and `answer`. The chunks of a record are replaced when the record is created again.',
    scope: 'collections',
    params: ChunkParams,
    body: ChunkUpdate,
    response: { 200: SuccessWithWarnings(Chunk) },
    examples: { content: { body: { content: 'On Sundays and holidays the library stays closed.' } } },
  },
  deleteChunk: {
    summary: 'Delete a chunk',
    scope: 'collections',
    params: ChunkParams,
    response: { 200: Acknowledgement },
    examples: { chunk: {} },
  },
});
