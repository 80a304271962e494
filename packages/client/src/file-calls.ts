import type { Api, DataOf, QueryOf } from './create-api.ts';
import type { FilesApi } from './generated/files-api.ts';

type List = 'GET /v1/files';

export interface FileUpload {
  readonly purpose: DataOf<FilesApi, List>[number]['purpose'];
  readonly name: string;
  readonly content: Blob;
  /** A repeated call with the same key and content gives the same `file_id`. */
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
    list: (query: QueryOf<FilesApi, List> = {}) => api.json('GET /v1/files', { query }),
    get: (fileId: string) => api.data('GET /v1/files/{file_id}', { path: path(fileId) }),
    content: (fileId: string) => api.send('GET /v1/files/{file_id}/content', { path: path(fileId) }),
    delete: async (fileId: string) => {
      await api.json('DELETE /v1/files/{file_id}', { path: path(fileId) });
    },
  };
}
