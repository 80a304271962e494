import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { consoleTokenHeader, csrfHeader } from '@quartermaster/contract';
import type { FastifyReply } from 'fastify';
import { openStreamAccess } from '../../../app/service/open-access.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createAudit } from '../../../platform/audit/audit.ts';
import { createTestApp } from '../../../platform/http/testing/test-app.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { clientAddress } from '../../../platform/log/request-identity.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import type { EgressResult, Outbound } from '../../../platform/outbound.ts';
import type { DatabaseKind } from '../../../storage/database/testing/temporary-databases.ts';
import { temporaryDatabases } from '../../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../../storage/repositories/account-repository.ts';
import { createAuditRepository } from '../../../storage/repositories/audit-repository.ts';
import { createOauthRepository } from '../../../storage/repositories/oauth-repository.ts';
import { createPeopleRepository } from '../../../storage/repositories/people-repository.ts';
import { createProjectDeletionRepository } from '../../../storage/repositories/project-deletions.ts';
import { createProjectRepository } from '../../../storage/repositories/project-repository.ts';
import { createRateLimitRepository } from '../../../storage/repositories/rate-limit-repository.ts';
import { createAccounts } from '../../accounts/accounts.ts';
import { createCookies } from '../../accounts/cookies.ts';
import { peopleRoutes } from '../../accounts/people-routes.ts';
import { accountRoutes } from '../../accounts/routes.ts';
import { createOriginCheck } from '../../accounts/same-origin.ts';
import { createSessions } from '../../accounts/sessions.ts';
import { storeAccount } from '../../accounts/testing/stored-account.ts';
import { createGuard, createPluginsGuard } from '../../authentication.ts';
import { createManagerGuard } from '../../manager-guard.ts';
import { openKeyRing } from '../../projects/key-ring.ts';
import { createProjects } from '../../projects/projects.ts';
import { projectRoutes } from '../../projects/routes.ts';
import { createSessionCallers } from '../../session-callers.ts';
import { createAccessTokens } from '../access-tokens.ts';
import { applicationRoutes } from '../application-routes.ts';
import { createAuthorizationServer } from '../authorization-server.ts';
import { createChallenge } from '../challenge.ts';
import { createClientDocuments } from '../client-documents.ts';
import { consentRoutes } from '../consent-routes.ts';
import { resourceMetadataRoutes, serverMetadataRoutes } from '../metadata-routes.ts';
import { createOauthMetrics } from '../oauth-metrics.ts';
import { createResources, type ResourcesDeps } from '../resources.ts';
import { oauthRoutes } from '../routes.ts';

export const issuer = 'https://q.example';
export const callback = 'https://app.example/callback';
export const clientId = 'https://app.example/client.json';

/** Answers for documents, instead of hosts of the internet. */
export type Documents = Map<string, Partial<Extract<EgressResult, { kind: 'response' }>> & { readonly text?: string }>;

/** The authorization server with an address that serves MCP, in this process and on a real database. */
export async function openOauthApp(
  t: Pick<TestContext, 'after'>,
  options: { kind?: DatabaseKind; outbound?: Outbound } & Partial<ResourcesDeps> = {},
) {
  const { database, close } = await temporaryDatabases[options.kind ?? 'SQLite']();
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line: string) => void lines.push(line) });
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const newId = createNewId();
  const registry = createMetrics();
  const repository = createOauthRepository(database);
  const projects = createProjectRepository(database);
  const project = { id: newId('project'), name: 'tea', createdAt: 1 };
  await projects.addProject(project, { most: 10 });
  const account = await storeAccount(database);
  const accounts = createAccountRepository(database);
  const sessions = createSessions({ repository: accounts, clock, newId });
  const people = createPeopleRepository(database);
  const callers = createSessionCallers({
    sessions,
    cookies: createCookies(false),
    origins: createOriginCheck(issuer),
    people,
  });
  const audit = createAudit({ repository: createAuditRepository(database), clock, newId, logger });
  const resources = createResources({
    publicUrls: { files: issuer, plugins: 'https://p.example' },
    urlsOf: () => [],
    ...options,
  });
  const documents: Documents = new Map();
  const asked: string[] = [];
  const countEvent = createOauthMetrics(registry);
  const client = createClientDocuments({
    repository,
    clock,
    outbound: options.outbound ?? answering(documents, asked),
    logger,
    countEvent,
  });
  const hasAccount = async (id: string) => (await accounts.findAccount(id))?.disabledAt === null;
  const creating = createAuthorizationServer({
    issuer,
    repository,
    audit,
    clock,
    logger,
    documents: client,
    resources,
    hasAccount,
    countEvent,
  });
  const keyRing = await openKeyRing({ repository: projects, clock, logger });
  const deps = { repository, clock, newId, resources, open: () => creating, countEvent };
  const streams = openStreamAccess({ database, logger });
  const app = createTestApp({ logger, audit, streams });
  oauthRoutes(app, { ...deps, addressOf: clientAddress });
  consentRoutes(app, { ...deps, sessions: callers, people });
  const managers = createManagerGuard(keyRing, callers, people);
  applicationRoutes(app, { ...deps, guard: managers });
  const signingIn = createAccounts({
    ...{ repository: accounts, sessions, clock, newId, audit, admission: createAdmission() },
  });
  accountRoutes(app, {
    ...{ accounts: signingIn, people, sessions, cookies: createCookies(false), origins: createOriginCheck(issuer) },
    ...{ ownsOrigin: true, addressOf: clientAddress },
  });
  peopleRoutes(app, { people, guard: managers, clock });
  projectRoutes(app, {
    projects: createProjects({ repository: projects, audit, clock, newId }),
    ...{ newId, rates: { listStates: async () => [] }, rateLimits: createRateLimitRepository(database) },
    ...{ guard: managers, keyRing, clock, deletions: createProjectDeletionRepository(database), onDeleting: () => {} },
  });
  const content = createGuard(keyRing, callers);
  for (const scope of ['collections:read', 'collections', 'plugins'] as const) {
    app.post(`/v1/needs/${scope}`, { onRequest: content.requires(scope) }, async (request) =>
      content.callerOf(request),
    );
  }
  serverMetadataRoutes(app, deps);
  resourceMetadataRoutes(app, { resources, address: 'files' });
  const lookUps: number[] = [];
  const counting: typeof repository = {
    ...repository,
    findRecords: (model, hashes, now) => {
      lookUps.push(hashes.length);
      return repository.findRecords(model, hashes, now);
    },
  };
  const tokens = createAccessTokens({ repository: counting, clock, resources, address: 'files' });
  const guard = createPluginsGuard({ keyRing, tokens, keyRequired: true, mounted: new WeakMap() });
  const addChallenge = createChallenge(resources, 'files');
  app.register(async (scope) => {
    scope.setErrorHandler((error, request) => {
      throw addChallenge(error, request);
    });
    const open = async (_request: unknown, reply: FastifyReply) =>
      reply.type('text/event-stream').send(Readable.from(endless()));
    scope.get('/mcp', { onRequest: guard.checkEither }, open);
    scope.get('/mcp-of-session', { onRequest: content.requires('collections:read') }, open);
    for (const path of ['/mcp', '/mcp/:bundle_id', '/mcp/collections/:collection_id', '/v1/execute']) {
      scope.post(path, { onRequest: guard.checkEither }, async (request) => {
        const { projectId, keyId, permissions } = guard.callerOf(request);
        const list = (names: ReadonlySet<string> | null) => (names === null ? null : [...names]);
        const { scopes, collections, tools } = permissions;
        return { projectId, keyId, scopes: [...scopes], collections: list(collections), tools: list(tools) };
      });
    }
  });
  await app.ready();
  t.after(async () => {
    streams.close();
    await app.close();
    await keyRing.close();
    await close();
  });
  const session = await sessions.begin(account, { address: '127.0.0.1' });
  documents.set(clientId, {
    text: JSON.stringify({
      client_id: clientId,
      client_name: 'Agent',
      redirect_uris: [callback, 'http://localhost/cb'],
    }),
  });
  const person = {
    cookie: `quartermaster_session=${session.token.reveal()}`,
    headers: { [consoleTokenHeader]: session.consoleToken.reveal(), [csrfHeader]: '1' },
  };
  return {
    app,
    database,
    repository,
    resources,
    accounts,
    people,
    sessions,
    signingIn,
    clock,
    documents,
    asked,
    lookUps,
    lines,
    registry,
    project,
    account,
    person,
  };
}

/** An event, and then silence. */
async function* endless() {
  yield 'data: 1\n\n';
  await new Promise(() => {});
}

export type OauthApp = Awaited<ReturnType<typeof openOauthApp>>;

function answering(documents: Documents, asked: string[]): Outbound {
  return {
    send: async ({ url }) => {
      asked.push(url);
      const found = documents.get(url);
      if (found === undefined) return { kind: 'unreachable', message: 'no such host' };
      const { text = '', status = 200, headers = { 'content-type': 'application/json' } } = found;
      return { kind: 'response', status, headers, body: Buffer.from(text), finalUrl: url };
    },
    close: async () => {},
  };
}
