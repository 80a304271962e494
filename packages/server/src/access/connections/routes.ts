import {
  Acknowledgement,
  BundleOauthClient,
  BundleOauthClientUpdate,
  Connection,
  ConnectionCreate,
  ConnectionLink,
  ConnectionLinkRequest,
  ConnectionList,
  ConnectionListQuery,
  EndUserDeletion,
  Success,
} from '@quartermaster/contract';
import { bundleOauthClientOperations, connectionOperations as operations } from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard, ManagerGuard } from '../../platform/http/guard.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type { BundleClients, ShownClient } from './bundle-clients.ts';
import type { Connections, Revoked } from './connections.ts';

export interface ConnectionRoutesDeps {
  readonly connections: Connections;
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
  readingRoutes(app, deps);
  linkingRoutes(app, deps);
  deletingRoutes(app, deps);
}

function readingRoutes(app: App, { connections, guard }: ConnectionRoutesDeps): void {
  const onRequest = guard.requires('connections');
  app.get(
    url,
    {
      onRequest,
      schema: {
        ...operations.listConnections,
        security,
        querystring: ConnectionListQuery,
        response: { 200: ConnectionList },
      },
    },
    async (request) => listEnvelope(await connections.list(guard.callerOf(request), request.query)),
  );
  app.get(
    `${url}/:connection_id`,
    {
      onRequest,
      schema: { ...operations.getConnection, security, params: Params, response: { 200: Success(Connection) } },
    },
    async (request) => successEnvelope(await connections.get(guard.callerOf(request), request.params.connection_id)),
  );
}

function linkingRoutes(app: App, { connections, guard }: ConnectionRoutesDeps): void {
  const onRequest = guard.requires('connections');
  const response = { 200: Success(ConnectionLink) };
  const linked = async (request: FastifyRequest, data: ConnectionLink) => {
    const { connection_id: id, bundle_id, end_user } = data;
    await request.server.audit.record(request, { action: 'connection.linked', id, details: { bundle_id, end_user } });
    return successEnvelope(data);
  };
  app.post(
    url,
    { onRequest, schema: { ...operations.createConnection, security, body: ConnectionCreate, response } },
    async (request) => linked(request, await connections.create(guard.callerOf(request), request.body)),
  );
  app.post(
    `${url}/:connection_id/link`,
    {
      onRequest,
      schema: {
        ...operations.createConnectionLink,
        security,
        params: Params,
        body: ConnectionLinkRequest,
        response,
      },
    },
    async (request) => {
      const { connection_id } = request.params;
      return linked(request, await connections.link(guard.callerOf(request), connection_id, request.body.return_url));
    },
  );
}

function deletingRoutes(app: App, { connections, guard }: ConnectionRoutesDeps): void {
  const onRequest = guard.requires('connections');
  const revoked = (request: FastifyRequest, { id, provider }: Revoked) =>
    request.server.audit.record(request, { action: 'connection.revoked', id, details: { provider } });
  app.delete(
    `${url}/:connection_id`,
    {
      onRequest,
      schema: { ...operations.deleteConnection, security, params: Params, response: { 200: Acknowledgement } },
    },
    async (request) => {
      await revoked(request, await connections.remove(guard.callerOf(request), request.params.connection_id));
      return acknowledgement;
    },
  );
  app.delete(
    '/v1/end_users/:end_user',
    {
      onRequest,
      schema: {
        ...operations.deleteEndUser,
        security,
        params: UserParams,
        response: { 200: Success(EndUserDeletion) },
      },
    },
    async (request) => {
      const { end_user } = request.params;
      const removed = await connections.removeEndUser(guard.callerOf(request), end_user);
      for (const each of removed) await revoked(request, each);
      return successEnvelope({ object: 'EndUserDeletion' as const, end_user, connections: removed.length });
    },
  );
}

export interface BundleClientRoutesDeps {
  readonly clients: BundleClients;
  /** Refuses everybody but administrators of the service. */
  readonly onRequest: ManagerGuard['manages'];
  /** What the operator registers with the provider. */
  readonly redirectUri: () => string;
}

/** Routes for the OAuth client that the operator registered with the provider of a bundle. */
export function bundleClientRoutes(app: App, { clients, onRequest, redirectUri }: BundleClientRoutesDeps): void {
  const path = '/v1/oauth_clients/:bundle_id';
  const security = [{ session: [], consoleToken: [] }];
  const response = { 200: Success(BundleOauthClient) };
  const toWire = (bundle_id: string, found: ShownClient | undefined) =>
    successEnvelope({
      object: 'BundleOauthClient' as const,
      bundle_id,
      client_id: found?.clientId ?? null,
      redirect_uri: redirectUri(),
      updated_timestamp: found?.updatedAt ?? null,
    });
  app.get(
    path,
    {
      onRequest,
      schema: { ...bundleOauthClientOperations.getBundleOauthClient, security, params: BundleParams, response },
    },
    async ({ params: { bundle_id } }) => toWire(bundle_id, await clients.find(bundle_id)),
  );
  app.put(
    path,
    {
      onRequest,
      schema: {
        ...bundleOauthClientOperations.setBundleOauthClient,
        security,
        params: BundleParams,
        body: BundleOauthClientUpdate,
        response,
      },
    },
    async (request) => {
      const { bundle_id } = request.params;
      const { client_id, client_secret } = request.body;
      const set = await clients.set(bundle_id, client_id, client_secret);
      await request.server.audit.record(request, { action: 'oauth_client.set', id: bundle_id, projectId: null });
      return toWire(bundle_id, set);
    },
  );
  app.delete(
    path,
    {
      onRequest,
      schema: {
        ...bundleOauthClientOperations.deleteBundleOauthClient,
        security,
        params: BundleParams,
        response: { 200: Acknowledgement },
      },
    },
    async (request) => {
      const { bundle_id } = request.params;
      if (!(await clients.remove(bundle_id))) throw objectNotFound('OAuth client of a bundle', bundle_id);
      await request.server.audit.record(request, { action: 'oauth_client.deleted', id: bundle_id, projectId: null });
      return acknowledgement;
    },
  );
}
