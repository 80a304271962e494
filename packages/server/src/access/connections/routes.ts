import {
  Acknowledgement,
  BundleOauthClient,
  BundleOauthClientUpdate,
  Connection,
  ConnectionConfirmation,
  ConnectionCreate,
  ConnectionLink,
  ConnectionLinkRequest,
  ConnectionList,
  ConnectionListQuery,
  EndUserDeletion,
  Success,
} from '@quartermaster/contract';
import {
  bundleOauthClientOperations as clientOperations,
  connectionOperations as operations,
} from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard, ManagerGuard } from '../../platform/http/guard.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type { BundleClients, ShownClient } from './bundle-clients.ts';
import type { ConnectFlow } from './connect-flow.ts';
import type { Connections } from './connections.ts';
import type { Revoked } from './remove-connections.ts';

export interface ConnectionRoutesDeps {
  readonly connections: Connections;
  readonly confirm: ConnectFlow['confirm'];
  readonly guard: Guard;
}

const url = '/v1/connections';
const id = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const Params = Type.Object({ connection_id: id('Id of the connection.') });
const UserParams = Type.Object({ end_user: id('Id of the end user in the application.') });
const BundleParams = Type.Object({ bundle_id: id('Id of the bundle.') });
const security = [{ apiKey: [] }];

/** Routes of the connections of end users. ADR 0029. */
export function connectionRoutes(app: App, deps: ConnectionRoutesDeps): void {
  linkingRoutes(app, deps);
  deletingRoutes(app, deps);
}

function linkingRoutes(app: App, { connections, confirm, guard }: ConnectionRoutesDeps): void {
  const onRequest = guard.requires('connections');
  const params = Params;
  const response = { 200: Success(ConnectionLink) };
  const list = { ...operations.listConnections, security, querystring: ConnectionListQuery };
  app.get(url, { onRequest, schema: { ...list, response: { 200: ConnectionList } } }, async (request) =>
    listEnvelope(await connections.list(guard.callerOf(request), request.query)),
  );
  const get = { ...operations.getConnection, security, params, response: { 200: Success(Connection) } };
  app.get(`${url}/:connection_id`, { onRequest, schema: get }, async (request) =>
    successEnvelope(await connections.get(guard.callerOf(request), request.params.connection_id)),
  );
  const linked = async (request: FastifyRequest, data: ConnectionLink) => {
    const { connection_id: id, bundle_id, end_user } = data;
    await request.server.audit.record(request, { action: 'connection.linked', id, details: { bundle_id, end_user } });
    return successEnvelope(data);
  };
  const create = { ...operations.createConnection, security, body: ConnectionCreate, response };
  app.post(url, { onRequest, schema: create }, async (request) =>
    linked(request, await connections.create(guard.callerOf(request), request.body)),
  );
  const link = { ...operations.createConnectionLink, security, params, body: ConnectionLinkRequest, response };
  app.post(`${url}/:connection_id/link`, { onRequest, schema: link }, async (request) => {
    const { connection_id: id } = request.params;
    return linked(request, await connections.link(guard.callerOf(request), id, request.body.return_url));
  });
  const body = ConnectionConfirmation;
  const confirming = { ...operations.confirmConnection, security, params, body, response: get.response };
  app.post(`${url}/:connection_id/confirm`, { onRequest, schema: confirming }, async (request) => {
    const { connection_id: id } = request.params;
    const data = await confirm(guard.callerOf(request), id, request.body);
    if (request.body.preview !== true)
      await request.server.audit.record(request, { action: 'connection.connected', id });
    return successEnvelope(data);
  });
}

function deletingRoutes(app: App, { connections, guard }: ConnectionRoutesDeps): void {
  const onRequest = guard.requires('connections');
  const revoked = (request: FastifyRequest, { id, provider }: Revoked) =>
    request.server.audit.record(request, { action: 'connection.revoked', id, details: { provider } });
  const one = { ...operations.deleteConnection, security, params: Params, response: { 200: Acknowledgement } };
  app.delete(`${url}/:connection_id`, { onRequest, schema: one }, async (request) => {
    await revoked(request, await connections.remove(guard.callerOf(request), request.params.connection_id));
    return acknowledgement;
  });
  const response = { 200: Success(EndUserDeletion) };
  const user = { ...operations.deleteEndUser, security, params: UserParams, response };
  app.delete('/v1/end_users/:end_user', { onRequest, schema: user }, async (request) => {
    const { end_user } = request.params;
    const removed = await connections.removeEndUser(guard.callerOf(request), end_user);
    for (const each of removed) await revoked(request, each);
    return successEnvelope({ object: 'EndUserDeletion' as const, end_user, connections: removed.length });
  });
}

export interface BundleClientRoutesDeps {
  readonly clients: BundleClients;
  /** @throws Problem for a bundle that takes no client */
  readonly checkBundle: (bundleId: string) => void;
  /** Refuses everybody but administrators of the service. */
  readonly onRequest: ManagerGuard['manages'];
  /** What the operator registers with the provider. */
  readonly redirectUri: () => string;
}

/** Routes for the OAuth client that the operator registered with the provider of a bundle. */
export function bundleClientRoutes(
  app: App,
  { clients, checkBundle, onRequest, redirectUri }: BundleClientRoutesDeps,
): void {
  const path = '/v1/oauth_clients/:bundle_id';
  const shared = { security: [{ session: [], consoleToken: [] }], params: BundleParams };
  const response = { 200: Success(BundleOauthClient) };
  const toWire = (bundle_id: string, found: ShownClient | undefined) =>
    successEnvelope({
      object: 'BundleOauthClient' as const,
      bundle_id,
      client_id: found?.clientId ?? null,
      redirect_uri: redirectUri(),
      updated_timestamp: found?.updatedAt ?? null,
    });
  const get = { ...clientOperations.getBundleOauthClient, ...shared, response };
  app.get(path, { onRequest, schema: get }, async ({ params: { bundle_id } }) =>
    toWire(bundle_id, await clients.find(bundle_id)),
  );
  const put = { ...clientOperations.setBundleOauthClient, ...shared, body: BundleOauthClientUpdate, response };
  app.put(path, { onRequest, schema: put }, async (request) => {
    const { bundle_id: id } = request.params;
    checkBundle(id);
    const set = await clients.set(id, request.body.client_id, request.body.client_secret);
    await request.server.audit.record(request, { action: 'oauth_client.set', id, projectId: null });
    return toWire(id, set);
  });
  const remove = { ...clientOperations.deleteBundleOauthClient, ...shared, response: { 200: Acknowledgement } };
  app.delete(path, { onRequest, schema: remove }, async (request) => {
    const { bundle_id: id } = request.params;
    if (!(await clients.remove(id))) throw objectNotFound('OAuth client of a bundle', id);
    await request.server.audit.record(request, { action: 'oauth_client.deleted', id, projectId: null });
    return acknowledgement;
  });
}
