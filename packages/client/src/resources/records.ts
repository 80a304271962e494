import type { QueryOf } from '../create-api.ts';
import { QuartermasterError } from '../errors.ts';
import type { FilesApi, RecordCreate, RecordItem, RecordPreview, RecordUpdate } from '../generated/files-api.ts';
import type { ServerEvent } from '../server-events.ts';
import type { ApiRequest } from '../transport/api-request.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';
import { type WaitOptions, waitUntilSettled } from '../wait.ts';

/** The changing members of a record. */
export type RecordState = Pick<RecordItem, 'record_id' | 'status' | 'num_chunks' | 'progress' | 'error'>;

export type RecordWaitOptions = WaitOptions<RecordState>;

/** A request that begins the processing of a record. */
export type RecordRequest = ApiRequest<RecordItem> & {
  /**
   * Waits until the record is `ready` or `partial`.
   * @throws RecordFailedError, TimeoutError
   */
  wait(options?: RecordWaitOptions): Promise<RecordItem>;
};

/** A record that could not be processed. */
export class RecordFailedError extends QuartermasterError {
  override readonly name: string = 'RecordFailedError';
  /** A code of the section "Records" of docs/reference/errors.md, such as `file_encrypted`. */
  readonly code: string;
  readonly record: RecordItem;

  constructor(record: RecordItem) {
    super(`Record ${record.record_id} failed: ${record.error?.message ?? `its status is "${record.status}".`}`);
    this.code = record.error?.code ?? record.status;
    this.record = record;
  }
}

type RecordsQuery = QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/records'>;
type ChunksQuery = QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/records/{record_id}/chunks'>;
type RowsQuery = Omit<QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/records/{record_id}/rows'>, 'format'>;

type PictureQuery = QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/records/{record_id}/pages/{page}/picture'>;
type TextQuery = QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/records/{record_id}/text'>;

/** `restorable`: `restore` undoes the deletion for 24 hours. */
type DeleteQuery = QueryOf<FilesApi, 'DELETE /v1/collections/{collection_id}/records/{record_id}'>;

export type Records = ReturnType<typeof createRecords>;

export function createRecords(calls: Calls<FilesApi>) {
  const path = (collectionId: string, recordId: string) => ({ collection_id: collectionId, record_id: recordId });
  const one = '/v1/collections/{collection_id}/records/{record_id}' as const;

  /** Waits until a record is `ready` or `partial`. @throws RecordFailedError, TimeoutError */
  async function wait(collectionId: string, recordId: string, options: RecordWaitOptions = {}): Promise<RecordItem> {
    const request = { path: path(collectionId, recordId) };
    const record = await waitUntilSettled<RecordItem, RecordState>(
      {
        name: `Record ${recordId}`,
        read: (signal) => calls.data(`GET ${one}`, request, { signal }),
        follow: (signal) => calls.raw(`GET ${one}/events`, request, { signal, timeout: 0, maxRetries: 0 }),
        isSettled: ({ status }) => status !== 'creating',
        stateOf: readState,
      },
      options,
    );
    if (record.status === 'ready' || record.status === 'partial') return record;
    throw new RecordFailedError(record);
  }

  function waitable(request: ApiRequest<RecordItem>): RecordRequest {
    const waitForIt = async (options?: RecordWaitOptions) => {
      const { collection_id, record_id } = await request;
      return await wait(collection_id, record_id, options);
    };
    return Object.assign(request, { wait: waitForIt });
  }

  return {
    /** Creates a record, whose chunks follow in the background: `await records.create(…).wait()`. A lost response is not retried. */
    create: (collectionId: string, body: RecordCreate, options: RequestOptions = {}): RecordRequest => {
      const request = { path: { collection_id: collectionId }, body };
      return waitable(narrow<RecordItem>(calls.data('POST /v1/collections/{collection_id}/records', request, options)));
    },
    /** Reads the source without storing anything. @returns the chunks that would be created and the rows that would be refused */
    preview: (collectionId: string, body: RecordCreate, options: RequestOptions = {}): ApiRequest<RecordPreview> => {
      const request = { path: { collection_id: collectionId }, query: { dry_run: true }, body };
      return narrow<RecordPreview>(calls.data('POST /v1/collections/{collection_id}/records', request, options));
    },
    list: (collectionId: string, query: RecordsQuery = {}, options: RequestOptions = {}) =>
      calls.list(
        'GET /v1/collections/{collection_id}/records',
        { path: { collection_id: collectionId }, query },
        (record) => record.record_id,
        options,
      ),
    get: (collectionId: string, recordId: string, options: RequestOptions = {}) =>
      calls.data(`GET ${one}`, { path: path(collectionId, recordId) }, options),
    /** Changes a record. Except for metadata, a change creates the chunks again; the old ones stay until then. */
    update: (collectionId: string, recordId: string, body: RecordUpdate, options: RequestOptions = {}): RecordRequest =>
      waitable(calls.data(`POST ${one}`, { path: path(collectionId, recordId), body }, options)),
    delete: (collectionId: string, recordId: string, { restorable, ...options }: RequestOptions & DeleteQuery = {}) =>
      calls.done(`DELETE ${one}`, { path: path(collectionId, recordId), query: { restorable } }, options),
    restore: (collectionId: string, recordId: string, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/restore`, { path: path(collectionId, recordId) }, options),
    /** Creates the chunks again from the same source. */
    retry: (collectionId: string, recordId: string, options: RequestOptions = {}): RecordRequest =>
      waitable(calls.data(`POST ${one}/retry`, { path: path(collectionId, recordId) }, options)),
    /** Stops the processing of a record. A complete record stays unchanged. */
    cancel: (collectionId: string, recordId: string, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/cancel`, { path: path(collectionId, recordId) }, options),
    wait,
    /** Lists the chunks of a record, in order. */
    chunks: (collectionId: string, recordId: string, query: ChunksQuery = {}, options: RequestOptions = {}) =>
      calls.list(
        `GET ${one}/chunks`,
        { path: path(collectionId, recordId), query },
        (chunk) => chunk.chunk_id,
        options,
      ),
    /** Returns a part of the extracted text, in which the offsets of the chunks count. */
    text: (collectionId: string, recordId: string, query: TextQuery = {}, options: RequestOptions = {}) =>
      calls.data(`GET ${one}/text`, { path: path(collectionId, recordId), query }, options),
    /** Returns a page of a PDF document as a PNG. `chunk_id` in the query marks a passage. */
    pagePicture: (
      collectionId: string,
      recordId: string,
      page: number,
      query: PictureQuery = {},
      options: RequestOptions = {},
    ) =>
      calls.raw(
        `GET ${one}/pages/{page}/picture`,
        { path: { ...path(collectionId, recordId), page: String(page) }, query },
        options,
      ),
    /** Lists the rejected rows of a sheet, with the reasons. */
    rows: (collectionId: string, recordId: string, query: RowsQuery = {}, options: RequestOptions = {}) =>
      calls.list(`GET ${one}/rows`, { path: path(collectionId, recordId), query }, (row) => row.row_id, options),
    /** Returns these rows as a CSV file to correct and upload again. */
    rowSheet: (
      collectionId: string,
      recordId: string,
      status: RowsQuery['status'] = 'rejected',
      options: RequestOptions = {},
    ) =>
      calls.raw(`GET ${one}/rows`, { path: path(collectionId, recordId), query: { status, format: 'csv' } }, options),
  };
}

/** Selects one of the types that the operation answers with. The request determines it. */
function narrow<T>(request: ApiRequest<unknown>): ApiRequest<T> {
  return request as ApiRequest<T>;
}

function readState({ name, data }: ServerEvent): RecordState | undefined {
  return name === 'record' ? (JSON.parse(data) as RecordState) : undefined; // the service validates it by its schema
}
