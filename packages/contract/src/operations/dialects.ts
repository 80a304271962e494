import { Type } from 'typebox';
import { DifyError, DifyRecords, DifyRetrieval, LoadedDocuments, LoaderError } from '../dialects.ts';
import { describeOperations } from './operation.ts';

/** Used only for the documentation, because the body is streamed to the disk. */
const DocumentBody = Type.String({ format: 'binary', description: 'The file.' });

export const dialectOperations = describeOperations('dialects', {
  retrieveForDify: {
    summary: 'Find chunks in the form of the External Knowledge API of Dify',
    description:
      'Finds chunks like queryChunks. `knowledge_id` is the id of a collection. Errors have the form `{"error_code","error_msg","code","request_id"}`, and a refused key gets 403, because Dify takes 401 for success when it checks the connection.',
    scope: 'collections:read',
    body: DifyRetrieval,
    response: { 200: DifyRecords, default: DifyError },
    examples: {
      question: {
        summary: 'Ask a question',
        body: {
          knowledge_id: '$COLLECTION_ID',
          query: 'When does the library open?',
          retrieval_setting: { top_k: 3, score_threshold: 0 },
        },
      },
      condition: {
        summary: 'Ask within chunks that have certain metadata',
        body: {
          knowledge_id: '$COLLECTION_ID',
          query: 'When does the library open?',
          retrieval_setting: { top_k: 3, score_threshold: 0 },
          metadata_condition: {
            logical_operator: 'and',
            conditions: [
              { name: 'lang', comparison_operator: 'is', value: 'en' },
              { name: 'year', comparison_operator: '≥', value: 2025 },
            ],
          },
        },
      },
    },
  },
  loadForOpenWebUi: {
    summary: 'Read a document in the form of the external document loader of Open WebUI',
    description:
      'The body is the file. The extension of `X-Filename`, or else `Content-Type`, tells its format. The response has one item for each page or sheet, and one item for a document without pages. Nothing is stored. Errors have the form `{"detail","code","request_id"}`. The detail of a document without text begins with `No extractable text`.',
    scope: 'files',
    consumes: ['application/octet-stream'],
    body: DocumentBody,
    response: { 200: LoadedDocuments, default: LoaderError },
    examples: {
      document: {
        headers: { 'Content-Type': 'text/markdown', 'X-Filename': 'hours.md' },
        content: '# Hours\n\nThe library opens at nine.\n',
      },
    },
  },
});
