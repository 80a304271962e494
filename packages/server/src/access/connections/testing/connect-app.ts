import type { TestContext } from 'node:test';
import type { OauthDeclaration } from '@quartermaster/plugin-kit';
import {
  type ProviderOptions,
  providerClient,
  signInAtProvider,
  startIdentityProvider,
} from '../../../../../../test/support/identity-provider.ts';
import { createAudit } from '../../../platform/audit/audit.ts';
import { createTestApp } from '../../../platform/http/testing/test-app.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { everyPermission } from '../../../platform/permissions.ts';
import { objectNotFound, Problem } from '../../../platform/problem.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import { type DatabaseKind, temporaryDatabases } from '../../../storage/database/testing/temporary-databases.ts';
import { createAuditRepository } from '../../../storage/repositories/audit-repository.ts';
import {
  createBundleClientRepository,
  createCredentialProfileRepository,
} from '../../../storage/repositories/credential-profile-repository.ts';
import { createOauthRepository } from '../../../storage/repositories/oauth-repository.ts';
import { createProjectRepository } from '../../../storage/repositories/project-repository.ts';
import { createBroker } from '../../../tools/egress/create-broker.ts';
import { createOriginCheck } from '../../accounts/same-origin.ts';
import { createEncrypter, createEncryptionKey, readEncryptionKey } from '../../credential-profiles/encryption.ts';
import { createBundleClients } from '../bundle-clients.ts';
import { createConnectFlow } from '../connect-flow.ts';
import { connectRoutes } from '../connect-routes.ts';
import { createConnectionMetrics } from '../connection-metrics.ts';
import { createConnectionRows } from '../connection-rows.ts';
import { createConnections } from '../connections.ts';
import { createProviders } from '../provider.ts';
import { createUsedConnections, type RefreshTiming } from '../refresh-connection.ts';
import { createResolveConnection } from '../resolve-connection.ts';

export const origin = 'https://q.example';
/** The name of the provider, which the broker replaces by its address on this machine. */
export const providerOrigin = 'https://provider.example';

interface Options extends Pick<ProviderOptions, 'accessSeconds' | 'authentication'> {
  readonly kind?: DatabaseKind;
  readonly oauth?: Partial<OauthDeclaration>;
  readonly timing?: RefreshTiming;
}

const key = readEncryptionKey(createEncryptionKey());

/** Connections in this process, with a real database, the egress broker, and a provider by other authors. */
export async function openConnectApp(t: Pick<TestContext, 'after'>, options: Options = {}) {
  const { accessSeconds = 3600, authentication = 'client_secret_post' } = options;
  const redirectUris = [`${origin}/connect/callback`];
  const provider = await startIdentityProvider(t, { redirectUris, accessSeconds, authentication });
  provider.person.claims = { email: 'ada@example.com', name: 'Ada' };
  const { database, close } = await temporaryDatabases[options.kind ?? 'SQLite']();
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line: string) => void lines.push(line) });
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const newId = createNewId();
  const registry = createMetrics();
  const overrides = new Map([[providerOrigin, provider.issuer]]);
  const outbound = createBroker({ overrides, allow: ['127.0.0.1'], version: '0', logger });
  const projects = createProjectRepository(database);
  const project = { id: newId('project'), name: 'tea', createdAt: 1 };
  await projects.addProject(project, { most: 10 });
  const audit = createAudit({ repository: createAuditRepository(database), clock, newId, logger });
  if (key === null) throw new Error('no key');
  const encrypter = createEncrypter(key);
  const oauth: OauthDeclaration = {
    authorization_url: `${providerOrigin}/auth`,
    token_url: `${providerOrigin}/token`,
    issuer: provider.issuer,
    client_authentication: ({ client_secret_post: 'body', client_secret_basic: 'basic', none: 'none' } as const)[
      authentication
    ],
    authorization_parameters: { prompt: 'consent' },
    scopes: ['openid', 'email', 'profile', 'offline_access'],
    revocation: { url: `${providerOrigin}/token/revocation` },
    account: { url: `${providerOrigin}/me`, id: 'sub', label: 'email' },
    credential: 'TOKEN',
    ...options.oauth,
  };
  const secretField = { description: 'Of the <account>.', isSecret: true, isRequired: true };
  const bundles = [
    { id: 'calendar', name: 'Calendar <b>', oauth, fields: [{ ...secretField, name: 'TOKEN' }] },
    { id: 'weather', name: 'Weather', fields: [{ ...secretField, name: 'KEY' }] },
    { id: 'clock', name: 'Clock', fields: [] },
  ];
  const repository = createCredentialProfileRepository(database);
  const clients = createBundleClients({ repository: createBundleClientRepository(database), encrypter, clock, newId });
  await clients.set('calendar', providerClient.id, authentication === 'none' ? undefined : providerClient.secret);
  const providers = createProviders(outbound);
  const oauthOf = (id: string) => bundles.find((bundle) => bundle.id === id)?.oauth;
  const common = { repository, encrypter, providers, clients, oauthOf, audit, clock, logger, newId };
  const countEvent = createConnectionMetrics(registry);
  const rows = createConnectionRows(common);
  const refreshing = { ...common, rows, countEvent, timing: options.timing };
  const createResolve = () => createResolveConnection(rows, createUsedConnections(refreshing));
  const resolve = createResolve();
  const deps = {
    ...{ ...common, countEvent, rows, records: createOauthRepository(database), baseUrl: () => origin },
    returnOrigins: ['https://app.example'],
    getBundle: (id: string) => {
      const found = bundles.find((bundle) => bundle.id === id);
      if (found === undefined) throw objectNotFound('bundle', id);
      return found;
    },
  };
  const connections = createConnections(deps);
  const flow = createConnectFlow({
    ...deps,
    findProject: projects.findProject,
    readCredentials: (_bundleId, credentials) => {
      if (typeof credentials.KEY !== 'string') throw fieldInvalid('body/credentials/KEY', 'nothing', 'a string');
      return credentials;
    },
    verify: async (_projectId, _bundleId, { KEY }) => {
      if (KEY === 'wrong') throw new Problem('CREDENTIALS_VALIDATION_ERROR', 'A text of the third party.');
      if (KEY === 'away') throw new Problem('PROVIDER_ERROR', 'A text of the third party.');
    },
  });
  const app = createTestApp({ logger, audit });
  connectRoutes(app, { flow, origins: createOriginCheck(origin), baseUrl: () => origin });
  await app.ready();
  t.after(async () => {
    await app.close();
    await outbound.close();
    await close();
  });

  const user = { projectId: project.id, permissions: everyPermission };
  const same = { host: 'q.example', origin, 'sec-fetch-site': 'same-origin' };
  const pathOf = (url: string) => url.slice(origin.length);
  const post = (url: string, form: Record<string, string> = {}, headers: object = {}) =>
    app.inject({
      method: 'POST',
      url: pathOf(url),
      payload: new URLSearchParams(form).toString(),
      headers: { ...same, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const get = (url: string, headers: object = {}) =>
    app.inject({ url: pathOf(url), headers: { host: 'q.example', ...headers } });

  /** Opens a link in a new browser, and continues to the provider. */
  async function start(connectUrl: string) {
    const answer = await post(connectUrl);
    const cookie = String(answer.headers['set-cookie'] ?? '').split(';', 1)[0] ?? '';
    return { answer, cookie, url: leavesFor(answer.body) };
  }
  /** Signs the person in, and returns the URL of the answer. */
  const authorise = (url: string) => signInAtProvider(provider, url.replace(providerOrigin, provider.issuer));
  const create = (more: object = {}) =>
    connections.create(user, { bundle_id: 'calendar', end_user: 'user-42', ...more });
  /** Connects an account. */
  async function connect(link?: { connect_url: string; connection_id: string }) {
    const { connect_url, connection_id: id } = link ?? (await create());
    const { cookie, url } = await start(connect_url);
    const callback = await authorise(url);
    const received = await get(callback.href, { cookie });
    const confirm = origin + String(received.headers.location);
    const page = await get(confirm, { cookie });
    const done = await post(confirm, { decision: 'connect' }, { cookie });
    return { id, cookie, callback, received, confirm, page, done };
  }
  return {
    ...{
      app,
      database,
      provider,
      lines,
      clock,
      registry,
      project,
      projects,
      user,
      connections,
      flow,
      rows,
      resolve,
      createResolve,
    },
    ...{ post, get, start, authorise, create, connect, clients, repository, bundles, oauth, outbound, newId },
    use: (id: string, bundle = 'calendar') => Promise.resolve(resolve(user, bundle, { $connection: id })),
    countRequests: (request: string) => provider.requests.filter((each) => each === request).length,
    events: async () =>
      (await database.read.selectFrom('audit_event').select(['action', 'details']).orderBy('id').execute()).map(
        ({ action, details }) => `${action} ${details}`,
      ),
  };
}

export type ConnectApp = Awaited<ReturnType<typeof openConnectApp>>;

/** The URL to which a page sends the browser by itself; empty for other pages. */
export function leavesFor(body: string): string {
  const [, url = ''] = /content="0;url=([^"]*)"/.exec(body) ?? [];
  return url.replaceAll('&amp;', '&');
}
