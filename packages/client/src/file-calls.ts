import type { Api, QueryOf } from './create-api.ts';
import type { FilesApi, PurposeName } from './generated/files-api.ts';

export interface FileUpload {
  readonly purpose: PurposeName;
  readonly name: string;
  readonly content: Blob;
  /** A repeated call with the same key and content returns the same `file_id`. */
  readonly idempotencyKey?: string;
}

export function fileCalls(api: Api<FilesApi>) {
  const path = (fileId: string) => ({ file_id: fileId });
  return {
    upload: ({ purpose, name, content, idempotencyKey }: FileUpload) => {
      const body = new FormData();
      body.set('purpose', purpose);
      body.set('file', content, name);
      return api.data('POST /v1/files', { body, idempotencyKey });
    },
    list: (query: QueryOf<FilesApi, 'GET /v1/files'> = {}) => api.json('GET /v1/files', { query }),
    get: (fileId: string) => api.data('GET /v1/files/{file_id}', { path: path(fileId) }),
    content: (fileId: string) => api.send('GET /v1/files/{file_id}/content', { path: path(fileId) }),
    delete: async (fileId: string) => {
      await api.json('DELETE /v1/files/{file_id}', { path: path(fileId) });
    },
  };
}
