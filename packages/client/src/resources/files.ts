import type { QueryOf } from '../create-api.ts';
import type { File, FilesApi, PurposeName } from '../generated/files-api.ts';
import { type ApiRequest, toApiRequest } from '../transport/api-request.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';
import { encodeUpload, type UploadProgress } from '../upload/encode-upload.ts';
import { openSource, type UploadSource } from '../upload/open-source.ts';

export interface UploadOptions extends RequestOptions {
  /** Default: by the extension. It is `qa_record_file` for .csv and .xlsx; set `document_file` for a workbook that is a document. */
  readonly purpose?: PurposeName | undefined;
  /** The file name, whose extension states the format. Default: that of the source; required when it has none. */
  readonly name?: string | undefined;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

export interface ContentOptions extends RequestOptions {
  /** Such as `bytes=0-1023`. */
  readonly range?: string | undefined;
}

export type Files = ReturnType<typeof createFiles>;

/** @param hasOwnFetch the caller's `fetch` sends every request, so uploads must not go around it */
export function createFiles(calls: Calls<FilesApi>, { hasOwnFetch }: { readonly hasOwnFetch: boolean }) {
  const path = (fileId: string) => ({ file_id: fileId });

  async function upload(source: UploadSource, given: UploadOptions) {
    const { purpose, name, onProgress, ...options } = given;
    const open = await openSource(source);
    const fileName = name ?? open.name;
    if (fileName === undefined || fileName === '') {
      throw new TypeError('The option `name` is required, because the extension of the file name states the format.');
    }
    const form = { purpose: purpose ?? purposeFor(fileName), fileName, source: open, onProgress };
    return await calls.upload('POST /v1/files', {
      timeout: 0,
      ...options,
      open: await encodeUpload({ ...form, mayUseXhr: !hasOwnFetch }),
      canRepeat: open.size !== null,
    });
  }

  return {
    /**
     * Uploads a file. There is no time limit unless `timeout` sets one.
     * @throws ValidationError when the service does not accept the file
     */
    upload: (source: UploadSource, options: UploadOptions = {}): ApiRequest<File> =>
      toApiRequest(upload(source, options)),
    list: (query: QueryOf<FilesApi, 'GET /v1/files'> = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/files', { query }, (file) => file.file_id, options),
    /** Returns a file with the records that were created from it. */
    get: (fileId: string, options: RequestOptions = {}) =>
      calls.data('GET /v1/files/{file_id}', { path: path(fileId) }, options),
    /** Returns the response with the bytes. */
    content: (fileId: string, { range, ...options }: ContentOptions = {}) => {
      const request = { path: path(fileId), headers: { range } };
      return calls.raw('GET /v1/files/{file_id}/content', request, options);
    },
    /** Deletes a file. Records that were created from it stay. */
    delete: (fileId: string, options: RequestOptions = {}) =>
      calls.done('DELETE /v1/files/{file_id}', { path: path(fileId) }, options),
    /** Returns what each purpose accepts, the quota, and every limit of the service. */
    limits: (options: RequestOptions = {}) => calls.data('GET /v1/limits', {}, options),
  };
}

/** The first purpose of the service that accepts the extension. */
function purposeFor(name: string): PurposeName {
  if (/\.(?:csv|xlsx)$/i.test(name)) return 'qa_record_file';
  return /\.(?:txt|pdf|docx|md|html?)$/i.test(name) ? 'record_file' : 'document_file';
}
