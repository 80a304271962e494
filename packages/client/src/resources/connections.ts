import type { QueryOf } from '../create-api.ts';
import type {
  ConnectionConfirmation,
  ConnectionCreate,
  ConnectionLinkRequest,
  PluginsApi,
} from '../generated/plugins-api.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';

export type Connections = ReturnType<typeof createConnections>;

/** Accounts of end users at third parties. No response holds their credentials. All of it needs the scope `connections`. */
export function createConnections(calls: Calls<PluginsApi>) {
  const one = '/v1/connections/{connection_id}' as const;
  return {
    list: (query: QueryOf<PluginsApi, 'GET /v1/connections'> = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/connections', { query }, (connection) => connection.connection_id, options),
    /** Creates a connection. Send its `connect_url` to the end user. */
    create: (body: ConnectionCreate, options: RequestOptions = {}) =>
      calls.data('POST /v1/connections', { body }, options),
    get: (connection_id: string, options: RequestOptions = {}) =>
      calls.data(`GET ${one}`, { path: { connection_id } }, options),
    /** Creates another link, with which the end user connects again. */
    link: (connection_id: string, body: ConnectionLinkRequest = {}, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/link`, { path: { connection_id }, body }, options),
    /** Activates a connection when the browser has returned to the application. */
    confirm: (connection_id: string, body: ConnectionConfirmation, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/confirm`, { path: { connection_id }, body }, options),
    delete: (connection_id: string, options: RequestOptions = {}) =>
      calls.done(`DELETE ${one}`, { path: { connection_id } }, options),
    /** Deletes all connections of an end user. */
    deleteEndUser: (end_user: string, options: RequestOptions = {}) =>
      calls.data('DELETE /v1/end_users/{end_user}', { path: { end_user } }, options),
  };
}
