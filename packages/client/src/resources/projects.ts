import type { QueryOf } from '../create-api.ts';
import type { ApiKeyCreate, ApiKeyRotate, FilesApi } from '../generated/files-api.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';

type ListQuery = QueryOf<FilesApi, 'GET /v1/projects'>;

export type Projects = ReturnType<typeof createProjects>;
export type Keys = ReturnType<typeof createKeys>;

/** Only an administrator in the console creates projects. */
export function createProjects(calls: Calls<FilesApi>) {
  return {
    /** Lists the projects that the key may manage. */
    list: (query: ListQuery = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/projects', { query }, (project) => project.project_id, options),
  };
}

/** API keys of a project. All calls except `own` need a key with the scope `admin`. */
export function createKeys(calls: Calls<FilesApi>) {
  const all = '/v1/projects/{project_id}/keys' as const;
  const path = (projectId: string, keyId: string) => ({ project_id: projectId, key_id: keyId });
  return {
    /** Returns the key of this client, with what it may do. It needs no scope. */
    own: (options: RequestOptions = {}) => calls.data('GET /v1/key', {}, options),
    list: (projectId: string, query: ListQuery = {}, options: RequestOptions = {}) =>
      calls.list(`GET ${all}`, { path: { project_id: projectId }, query }, (key) => key.key_id, options),
    /** Creates a key. Only this response holds the key itself, in `key`. A lost response is not retried. */
    create: (projectId: string, body: ApiKeyCreate, options: RequestOptions = {}) =>
      calls.data(`POST ${all}`, { path: { project_id: projectId }, body }, options),
    /** Creates a key with the same permissions. The old one works for another hour, or for `overlap_seconds`. */
    rotate: (projectId: string, keyId: string, body: ApiKeyRotate = {}, options: RequestOptions = {}) =>
      calls.data(`POST ${all}/{key_id}/rotate`, { path: path(projectId, keyId), body }, options),
    /** @param descendants also revokes the keys that this key created, directly or through other keys */
    revoke: (projectId: string, keyId: string, { descendants = false } = {}, options: RequestOptions = {}) =>
      calls.done(`DELETE ${all}/{key_id}`, { path: path(projectId, keyId), query: { descendants } }, options),
  };
}
