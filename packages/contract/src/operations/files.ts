import { Type } from 'typebox';
import { Acknowledgement, CountedList, IdempotencyKey, Success, SuccessWithWarnings } from '../envelope.ts';
import { File, FileWithReferences, Limits, PurposeName } from '../files.ts';
import { FileListQuery } from '../list-queries.ts';
import { describeOperations } from './operation.ts';

const UploadHeaders = Type.Object({
  'idempotency-key': Type.Optional(IdempotencyKey),
});
/** Used only for the documentation, because `multipart.ts` reads the body part by part. */
const UploadBody = Type.Object({
  purpose: PurposeName,
  file: Type.String({
    format: 'binary',
    description: 'The file; its name says the format.',
  }),
});
const FileParams = Type.Object({ file_id: Type.String({ minLength: 1, maxLength: 256 }) });

export const fileOperations = describeOperations('files', {
  uploadFile: {
    summary: 'Upload a file',
    description:
      'Stores the file and returns its `file_id`. Send the parts `purpose` and `file` in any order. The extension of the file name determines the format. ' +
      '`GET /v1/limits` lists the extensions of each purpose and the largest size. ' +
      '`document_file` is for text collections, like `record_file`, and accepts further formats. ' +
      'With the header `Idempotency-Key`, a repetition by the same caller with the same key and content within 24 hours returns the same `file_id`.',
    scope: 'files',
    consumes: ['multipart/form-data'],
    headers: UploadHeaders,
    body: UploadBody,
    response: { 200: SuccessWithWarnings(File) },
    examples: {
      document: {
        summary: 'Upload a document',
        form: {
          purpose: 'record_file',
          fileName: 'library.md',
          file: '# Opening hours\\n\\nThe library opens at nine.\\n',
        },
      },
      sheet: {
        summary: 'Upload a sheet of questions and answers',
        headers: { 'Idempotency-Key': 'faq-2026-11' },
        form: {
          purpose: 'qa_record_file',
          fileName: 'faq.csv',
          file: 'question,answer\\nIs there parking?,Behind the house.\\n',
        },
      },
    },
  },
  listFiles: {
    summary: 'List files',
    description:
      'Lists the files of the project, newest first. Give `file_id` of the last item as `after` to get the next page, until `has_more` is false.',
    scope: 'files:read',
    querystring: FileListQuery,
    response: { 200: CountedList(File) },
    examples: {
      newest: { summary: 'List the newest files', query: { limit: '10' } },
      byCollection: {
        summary: 'List files from which records of a text collection can be created',
        query: { collection_type: 'text' },
      },
      byName: { summary: 'List documents by a part of their name', query: { purpose: 'record_file', name: 'library' } },
    },
  },
  getFile: {
    summary: 'Get a file and the records created from it',
    description:
      'Returns the metadata of the file. `references` names at most 100 records, newest first, and none without the scope `collections:read`. Get the bytes at `/content`.',
    scope: 'files:read',
    params: FileParams,
    response: { 200: Success(FileWithReferences) },
    examples: { file: {} },
  },
  deleteFile: {
    summary: 'Delete a file',
    description:
      'Records created from the file keep their text. While a record is being created from it, the answer is 409 `DUPLICATE_OBJECT`.',
    scope: 'files',
    params: FileParams,
    response: { 200: Acknowledgement },
    examples: { file: {} },
  },
  getFileContent: {
    summary: 'Download the content of a file',
    description:
      'Returns the content of the file with a strong `ETag`. `Range` selects one range (206), `If-None-Match` saves a transfer (304), `If-Range` combines both.',
    scope: 'files:read',
    produces: ['application/octet-stream'],
    params: FileParams,
    examples: {
      whole: { summary: 'Download the whole file' },
      range: { summary: 'Download the first 16 bytes', headers: { Range: 'bytes=0-15' } },
    },
  },
  getLimits: {
    summary: 'Get the limits and the remaining quota of the project',
    description:
      'Returns the extensions and the largest file size of each purpose, the uploads in progress, the stored bytes, and the limits that a client can reach.',
    scope: 'files:read',
    response: { 200: Success(Limits) },
    examples: { limits: {} },
  },
});
