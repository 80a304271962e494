import { applicationOperations } from '@quartermaster/contract/operations';
import type { Clock } from '../../platform/clock.ts';
import { acknowledgement } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Managed, ManagerGuard } from '../../platform/http/guard.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { objectNotFound } from '../../platform/problem.ts';
import { isUsable } from './adapter.ts';
import { isDocumentUrl } from './client-metadata.ts';
import type { OauthEvent } from './oauth-metrics.ts';
import type { OauthRepository, StoredClient, StoredGrant } from './oauth-repository.ts';

export interface ApplicationRoutesDeps {
  readonly repository: OauthRepository;
  readonly clock: Clock;
  readonly guard: ManagerGuard;
  readonly countEvent: (event: OauthEvent) => void;
}

/** Lists the applications that people have allowed something, and ends what they may do. Everybody manages those that they allowed. */
export function applicationRoutes(app: App, { repository, clock, guard, countEvent }: ApplicationRoutesDeps): void {
  const onRequest = guard.sees;
  app.get('/v1/applications', { onRequest, schema: applicationOperations.listApplications }, async (request) => {
    const managed = guard.managedOf(request);
    const { projects, accountId } = managed;
    const grants = await repository.listGrants(projects && { projects, accountId }, clock.now());
    const clients = await repository.findClients([...new Set(grants.map(({ clientId }) => clientId))]);
    const byId = new Map(clients.map((client) => [client.id, client]));
    const toItem = (grant: StoredGrant) => toWire(grant, byId.get(grant.clientId), managed.permissions);
    return pageOf(grants, request.query, { kind: 'grant', toWire: toItem });
  });
  app.delete(
    '/v1/applications/:application_id',
    { onRequest, schema: applicationOperations.revokeApplication },
    async (request) => {
      const { application_id: id } = request.params;
      const grant = await repository.findGrant(id);
      const isFound = grant !== undefined && manages(guard.managedOf(request), grant) && isUsable(grant, clock.now());
      if (!isFound) throw objectNotFound('application', id);
      await repository.revokeGrant(id, clock.now());
      countEvent('revoked');
      const fact = { id, projectId: grant.projectId, details: { client: grant.clientId } };
      await request.server.audit.record(request, { action: 'application.revoked', ...fact });
      return acknowledgement;
    },
  );
}

function manages({ projects, accountId }: Managed, grant: StoredGrant): boolean {
  return projects === null || projects.has(grant.projectId) || grant.accountId === accountId;
}

function toWire(grant: StoredGrant, client: StoredClient | undefined, permissions: Permissions) {
  const { collections, tools } = permissions.visiblePart(grant);
  const { client_name: name } = client?.metadata ?? {};
  return {
    object: 'Application' as const,
    application_id: grant.id,
    client_id: grant.clientId,
    host: isDocumentUrl(grant.clientId) ? new URL(grant.clientId).hostname : null,
    name: typeof name === 'string' ? name : null,
    project_id: grant.projectId,
    account_id: grant.accountId,
    resource: grant.resource,
    scopes: [...grant.scopes],
    collections: collections && [...collections],
    tools: tools && [...tools],
    created_timestamp: grant.createdAt,
    last_used_timestamp: grant.lastUsedAt,
    expires_timestamp: grant.expiresAt,
  };
}
