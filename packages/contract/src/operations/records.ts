import { Type } from 'typebox';
import { PagePictureQuery, RecordText, RecordTextQuery } from '../citations.ts';
import {
  RecordCreate,
  RecordCreateQuery,
  RecordDeleteQuery,
  RecordItem,
  RecordPreview,
  RecordRow,
  RecordRowQuery,
  RecordUpdate,
} from '../collections.ts';
import { Acknowledgement, CountedList, Success, SuccessWithWarnings } from '../envelope.ts';
import { RecordListQuery } from '../list-queries.ts';
import { describeOperations } from './operation.ts';
import { CollectionParams, PathId, RecordParams } from './request-parts.ts';

const PageParams = Type.Object({
  collection_id: PathId,
  record_id: PathId,
  page: Type.String({ pattern: '^[1-9][0-9]{0,5}$', maxLength: 6, description: 'Number of the page, counted from 1.' }),
});

export const recordOperations = describeOperations('records', {
  createRecord: {
    summary: 'Create a record',
    description:
      'Returns immediately with `status: creating`. Chunks are created in the background; follow `/events` or poll the record until its status is `ready`, `partial` or `error`.\n\n' +
      'In a collection of type `text`: type `text` (the default) needs `content`, `file` a `file_id` of purpose `record_file` or `document_file`, `web` a `url`. ' +
      'In a collection of type `qa`: `qa_sheet` needs a `file_id` of purpose `qa_record_file`. ' +
      'If the columns of its questions and answers have other names, the record ends in `error` with code `columns_not_found`. ' +
      '`error.details` then proposes `columns`, which you send to this call or to the record.\n\n' +
      'With `dry_run=true` nothing is stored: the answer is a preview of the chunks. ' +
      '`Idempotency-Key` has no effect here: two requests create two records.',
    scope: 'collections',
    params: CollectionParams,
    querystring: RecordCreateQuery,
    body: RecordCreate,
    response: { 200: Type.Union([SuccessWithWarnings(RecordItem), SuccessWithWarnings(RecordPreview)]) },
    examples: {
      text: {
        summary: 'Create a record from a text',
        body: {
          type: 'text',
          title: 'Lending',
          content: 'Books may be kept for four weeks.',
          metadata: { lang: 'en' },
        },
      },
      file: {
        summary: 'Create a record from an uploaded document, in chunks of at most 200 tokens',
        body: {
          type: 'file',
          file_id: '$FILE_ID',
          text_splitter: { type: 'token', chunk_size: 200, chunk_overlap: 20 },
        },
      },
      web: { summary: 'Create a record from a web page', body: { type: 'web', url: 'https://example.com/' } },
      qa_sheet: {
        summary: 'Create question–answer pairs from a sheet, without pairs that exist already',
        path: { collection_id: '$QA_COLLECTION_ID' },
        body: { type: 'qa_sheet', file_id: '$SHEET_ID', on_duplicate: 'skip' },
      },
      columns: {
        summary: 'Create question–answer pairs from a sheet whose columns have other names',
        path: { collection_id: '$QA_COLLECTION_ID' },
        body: { type: 'qa_sheet', file_id: '$SHEET_ID', columns: { question: 'Title', answer: 'Body' } },
      },
      dry_run: {
        summary: 'Preview the chunks of a text cut at headings',
        query: { dry_run: 'true' },
        body: {
          content: '# Hours\n\nNine to six.\n\n# Lending\n\nFour weeks.',
          text_splitter: { type: 'separator', separators: ['# '] },
        },
      },
    },
  },
  listRecords: {
    summary: 'List the records of a collection',
    description:
      'Lists the records newest first. `status`, `type`, `name` and `sha256` select some of them; `sha256` finds those of a file that the collection has already.',
    scope: 'collections:read',
    params: CollectionParams,
    querystring: RecordListQuery,
    response: { 200: CountedList(RecordItem) },
    examples: {
      newest: { summary: 'List the newest records', query: { limit: '10' } },
      failed: { summary: 'List records that failed', query: { status: 'error' } },
    },
  },
  getRecord: {
    summary: 'Get a record',
    description:
      '`progress` is set while `status` is `creating`, `error` when it is `error`. `report` lists what was read from the source and what was left out.',
    scope: 'collections:read',
    params: RecordParams,
    response: { 200: Success(RecordItem) },
    examples: { record: {} },
  },
  updateRecord: {
    summary: 'Update a record',
    description:
      'A change of `metadata` alone takes effect immediately. Every other change recreates the chunks in the background; until then, searches find the old ones.',
    scope: 'collections',
    params: RecordParams,
    body: RecordUpdate,
    response: { 200: SuccessWithWarnings(RecordItem) },
    examples: {
      metadata: {
        summary: 'Change the title and the metadata',
        body: { title: 'Library', metadata: { lang: 'en', year: '2026' } },
      },
      content: {
        summary: 'Replace the source by a text',
        body: { type: 'text', title: 'Library', content: 'The library opens at nine and closes at six.' },
      },
    },
  },
  deleteRecord: {
    summary: 'Delete a record and its chunks',
    description:
      'Works in every status. A record that is being created is cancelled first. The file is kept. No list and no search finds the record afterwards. ' +
      'With `restorable=true` it can be restored for 24 hours; list such records with `status=deleting`.',
    scope: 'collections',
    params: RecordParams,
    querystring: RecordDeleteQuery,
    response: { 200: Acknowledgement },
    examples: { record: {} },
  },
  followRecord: {
    summary: 'Follow a record until it is no longer being created',
    description:
      'Server-sent events (`text/event-stream`): one event with the whole record for each change. The stream ends when `status` is no longer `creating`, or when the key or session that opened it ends.',
    scope: 'collections:read',
    params: RecordParams,
    response: { 200: { content: { 'text/event-stream': { schema: Type.String() } } } },
    examples: { record: {} },
  },
  retryRecord: {
    summary: 'Create the chunks of a record again from the same source',
    description: 'A record that is being created continues. If it waits for its next attempt, the attempt begins now.',
    scope: 'collections',
    params: RecordParams,
    response: { 200: Success(RecordItem) },
    examples: { record: {} },
  },
  cancelRecord: {
    summary: 'Cancel the creation of a record',
    description:
      'The record ends in `error` with the code `cancelled` and keeps the chunks it had. A record that is not being created does not change.',
    scope: 'collections',
    params: RecordParams,
    response: { 200: Success(RecordItem) },
    examples: { record: {} },
  },
  restoreRecord: {
    summary: 'Restore a deleted record',
    description:
      'Undoes a deletion with `restorable=true` within 24 hours: the record and its chunks are found again. A record that was being created is created again. A record that is not deleted does not change.',
    scope: 'collections',
    params: RecordParams,
    response: { 200: Success(RecordItem) },
    examples: { record: {} },
  },
  getRecordText: {
    summary: 'Get the extracted text of a record',
    description:
      'Returns the characters from `char_start` on. `locator.char_start` and `locator.char_end` of the chunks of the record are offsets in this text, in UTF-16 code units: the characters between them are the text of the chunk, without the title and the table header before it.\n\n' +
      '`gaps` lists the ranges that belong to no chunk: white space between chunks, separators of a `text_splitter`, and chunks that were deleted or got another text.',
    scope: 'collections:read',
    params: RecordParams,
    querystring: RecordTextQuery,
    response: { 200: Success(RecordText) },
    examples: { start: { query: { char_start: '0', max_characters: '2000' } } },
  },
  getPagePicture: {
    summary: 'Get a page of a PDF document or a picture file as a picture',
    description:
      'Returns a PNG. With `chunk_id`, the passage is marked. The answer has an `ETag`: a request with `If-None-Match` gets 304 while the picture is the same. The file must still exist.',
    scope: 'collections:read',
    params: PageParams,
    querystring: PagePictureQuery,
    produces: ['image/png'],
    examples: {
      page: {
        path: { record_id: '$PDF_RECORD_ID', page: '1' },
        query: { width: '600', chunk_id: '$PDF_CHUNK_ID' },
      },
    },
  },
  listRecordRows: {
    summary: 'List the rejected rows of a sheet',
    description:
      'Each row has a `code` and a `message`. With `format=csv`, or `Accept: text/csv`, the answer is a sheet with all of them: correct it, upload it and create a record from it.',
    scope: 'collections:read',
    params: RecordParams,
    querystring: RecordRowQuery,
    response: {
      200: {
        description: 'The rows.',
        content: {
          'application/json': { schema: CountedList(RecordRow) },
          'text/csv': { schema: Type.String() },
        },
      },
    },
    examples: {
      rejected: {
        summary: 'List rejected rows',
        path: { collection_id: '$QA_COLLECTION_ID', record_id: '$SHEET_RECORD_ID' },
      },
      csv: {
        summary: 'Download rejected rows as a sheet',
        path: { collection_id: '$QA_COLLECTION_ID', record_id: '$SHEET_RECORD_ID' },
        query: { format: 'csv' },
      },
    },
  },
});
