import { ConsentDecision, ConsentRequest, ContinueUrl, Success } from '@quartermaster/contract';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import { identify } from '../../platform/log/request-identity.ts';
import { objectNotFound } from '../../platform/problem.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import { readCookie } from '../accounts/cookies.ts';
import type { PeopleRepository } from '../accounts/people-repository.ts';
import { permissionsOf } from '../accounts/roles.ts';
import type { SessionCallers } from '../session-callers.ts';
import { type AuthorizationServer, grantMs, type PendingRequest } from './authorization-server.ts';
import { isDocumentUrl } from './client-metadata.ts';
import type { OauthEvent } from './oauth-metrics.ts';
import type { OauthRepository, StoredGrant } from './oauth-repository.ts';
import { readScopes, withoutIncluded, withReads } from './protocol-parameters.ts';
import { describeRedirect } from './redirect-uris.ts';
import type { Resources } from './resources.ts';

export interface ConsentRoutesDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly repository: OauthRepository;
  readonly resources: Resources;
  readonly open: (issuer: string) => Promise<AuthorizationServer>;
  readonly sessions: Pick<SessionCallers, 'sessionOf'>;
  readonly people: Pick<PeopleRepository, 'findRole'>;
  readonly countEvent: (event: OauthEvent) => void;
}

const params = Type.Object({ request_id: Type.String({ minLength: 1, maxLength: 64 }) });

/**
 * Serves the page of consent with what an application asks for, and stores the decision. Both calls need the session of the console,
 * and the cookie of the browser in which the request began: a link to a request of another browser finds nothing.
 */
export function consentRoutes(app: App, deps: ConsentRoutesDeps): void {
  app.get(
    '/oauth/requests/:request_id/details',
    { schema: { hide: true, params, response: { 200: Success(ConsentRequest) } } },
    async (request) => {
      await sessionOf(deps, request);
      const { pending, server } = await findPending(deps, request, request.params.request_id);
      const { client_id: clientId = '', redirect_uri: redirectUri = '', resource = '', scope } = pending.params;
      const client = await server.findClient(clientId);
      if (client === undefined) throw objectNotFound('request', request.params.request_id);
      const { client_name: name } = client.metadata();
      return successEnvelope({
        client_id: clientId,
        /** Only the document of a host says what it is. The name that an application gives itself says nothing. */
        host: isDocumentUrl(clientId) ? new URL(clientId).hostname : null,
        name: typeof name === 'string' ? name : null,
        ...describeRedirect(redirectUri),
        resource,
        scopes: withoutIncluded(readScopes(scope)),
      });
    },
  );
  app.post(
    '/oauth/requests/:request_id/decision',
    { schema: { hide: true, params, body: ConsentDecision, response: { 200: Success(ContinueUrl) } } },
    async (request) => {
      const accountId = await sessionOf(deps, request);
      const { pending, server } = await findPending(deps, request, request.params.request_id);
      const clientId = pending.params.client_id ?? '';
      const grant =
        request.body.decision === 'deny' ? null : await grantOf(deps, { pending, accountId, decision: request.body });
      if (!(await server.claim(pending))) throw objectNotFound('request', request.params.request_id);
      if (grant === null) {
        deps.countEvent('denied');
        const details = { scopes: readScopes(pending.params.scope), resource: pending.params.resource };
        await request.server.audit.record(request, { action: 'application.denied', id: clientId, details });
        return successEnvelope({ continue_url: await server.decide(pending, { error: 'access_denied' }) });
      }
      await deps.repository.addGrant(grant);
      deps.countEvent('granted');
      const { id, scopes, resource } = grant;
      identify(request, { project: grant.projectId, account: accountId });
      const details = { client: clientId, scopes, resource, collections: grant.collections, tools: grant.tools };
      await request.server.audit.record(request, { action: 'application.allowed', id, details });
      return successEnvelope({ continue_url: await server.decide(pending, { grantId: id, accountId }) });
    },
  );
}

async function sessionOf({ sessions }: ConsentRoutesDeps, request: FastifyRequest): Promise<string> {
  return (await sessions.sessionOf(request)).account.id;
}

/** @throws Problem OBJECT_NOT_FOUND for an expired request, one of another browser, and one that has a decision already */
async function findPending(
  { resources, open }: ConsentRoutesDeps,
  request: FastifyRequest,
  id: string,
): Promise<{ pending: PendingRequest; server: AuthorizationServer }> {
  const issuer = resources.issuer();
  if (issuer !== null && readCookie(request.headers.cookie, 'qm_oauth_request') === id) {
    const server = await open(issuer);
    const pending = await server.findRequest(id);
    if (pending !== undefined && pending.result === undefined) return { pending, server };
  }
  throw objectNotFound('request', id);
}

type Allowed = Extract<ConsentDecision, { decision: 'allow' }>;

interface GrantRequest {
  readonly pending: PendingRequest;
  readonly accountId: string;
  readonly decision: Allowed;
}

/** @throws Problem REQUEST_VALIDATION_ERROR for more than the application asked for, or than the person may do */
async function grantOf(
  { clock, newId, resources, people }: ConsentRoutesDeps,
  { pending, accountId, decision }: GrantRequest,
): Promise<StoredGrant> {
  const { client_id: clientId = '', resource = '', scope } = pending.params;
  const asked = withReads(readScopes(scope));
  const beyond = decision.scopes.find((name) => !asked.includes(name));
  if (beyond !== undefined) throw fieldInvalid('body/scopes', beyond, 'scopes that the application asks for');
  if (resources.read(resource)?.id !== resource)
    throw fieldInvalid('resource', resource, 'an MCP server of this service');
  const projectId = decision.project_id;
  const role = await people.findRole(accountId, projectId);
  if (role === undefined) throw objectNotFound('project', projectId);
  const denied = decision.scopes.find((name) => !permissionsOf[role].has(name));
  if (denied !== undefined) throw fieldInvalid('body/scopes', denied, 'scopes that your role in the project includes');
  // A server of one collection reaches no other, so the consent names none.
  const [, collection] = /\/mcp\/collections\/([a-z0-9_]+)$/.exec(resource) ?? [];
  const now = clock.now();
  return {
    id: newId('grant'),
    clientId,
    accountId,
    projectId,
    resource,
    scopes: withoutIncluded(decision.scopes),
    collections: collection === undefined ? decision.collections : [collection],
    tools: decision.tools,
    createdAt: now,
    expiresAt: now + grantMs,
    lastUsedAt: null,
    revokedAt: null,
  };
}
