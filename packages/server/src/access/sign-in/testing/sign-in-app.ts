import type { TestContext } from 'node:test';
import {
  type ProviderOptions,
  providerClient,
  signInAtProvider,
  startIdentityProvider,
} from '../../../../../../test/support/identity-provider.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createAudit } from '../../../platform/audit/audit.ts';
import { createTestApp } from '../../../platform/http/testing/test-app.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { clientAddress } from '../../../platform/log/request-identity.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { Secret } from '../../../platform/secret.ts';
import { type DatabaseKind, temporaryDatabases } from '../../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../../storage/repositories/account-repository.ts';
import { createAuditRepository } from '../../../storage/repositories/audit-repository.ts';
import { createOauthRepository } from '../../../storage/repositories/oauth-repository.ts';
import { createPeopleRepository } from '../../../storage/repositories/people-repository.ts';
import { createProjectRepository } from '../../../storage/repositories/project-repository.ts';
import { createBroker } from '../../../tools/egress/create-broker.ts';
import { createAccounts } from '../../accounts/accounts.ts';
import { createCookies } from '../../accounts/cookies.ts';
import { createOriginCheck } from '../../accounts/same-origin.ts';
import { createSessions } from '../../accounts/sessions.ts';
import { createResources } from '../../oauth/resources.ts';
import { type AccessRules, readRoleRule } from '../claimed-access.ts';
import { createIdentityProvider } from '../identity-provider.ts';
import { createPendingSignIns } from '../pending-sign-ins.ts';
import { createSignInCounter, signInRoutes } from '../routes.ts';

export const origin = 'https://q.example';

interface Options extends Pick<ProviderOptions, 'hasThinTokens' | 'authentication'> {
  readonly kind?: DatabaseKind;
  readonly allowedDomains?: AccessRules['allowedDomains'];
  readonly roles?: readonly string[];
  /** Addresses to which the broker may connect. */
  readonly allow?: readonly string[];
}

/** The sign-in in this process, with a real database, the egress broker, and a provider by other authors. */
export async function openSignInApp(t: Pick<TestContext, 'after'>, options: Options = {}) {
  const provider = await startIdentityProvider(t, { redirectUris: [`${origin}/sign-in/callback`], ...options });
  const { database, close } = await temporaryDatabases[options.kind ?? 'SQLite']();
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line: string) => void lines.push(line) });
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const newId = createNewId();
  const registry = createMetrics();
  const outbound = createBroker({ overrides: new Map(), allow: options.allow ?? ['127.0.0.1'], version: '0', logger });
  const projects = createProjectRepository(database);
  const project = { id: newId('project'), name: 'tea', createdAt: 1 };
  await projects.addProject(project, { most: 10 });
  const repository = createAccountRepository(database);
  const sessions = createSessions({ repository, clock, newId });
  const audit = createAudit({ repository: createAuditRepository(database), clock, newId, logger });
  const accounts = createAccounts({ repository, sessions, clock, newId, audit, admission: createAdmission() });
  const rolesClaim = options.roles === undefined ? null : 'groups';
  const identity = { issuer: provider.issuer, clientId: providerClient.id, rolesClaim, outbound, clock };
  const clientSecret = options.authentication === 'none' ? null : new Secret(providerClient.secret);
  const app = createTestApp({ logger, audit });
  signInRoutes(app, {
    accounts,
    people: createPeopleRepository(database),
    sessions,
    cookies: createCookies(true),
    origins: createOriginCheck(origin),
    ownsOrigin: true,
    addressOf: clientAddress,
    provider: createIdentityProvider({ ...identity, clientSecret }),
    pending: createPendingSignIns({ repository: createOauthRepository(database), clock }),
    resources: createResources({ publicUrls: { files: origin, plugins: null }, urlsOf: () => [origin] }),
    listProjects: projects.listProjects,
    isPage: (path) => path === '/files' || path === '/runs',
    allowedDomains: options.allowedDomains ?? [],
    rolesClaim,
    rules: (options.roles ?? []).flatMap((text) => readRoleRule(text) ?? []),
    signIns: createSignInCounter(registry),
  });
  await app.ready();
  t.after(async () => {
    await app.close();
    await outbound.close();
    await close();
  });

  /** Begins a sign-in in a new browser. */
  async function begin(query = '', headers: object = {}) {
    const answer = await app.inject({ url: `/v1/sign_in/oidc${query}`, headers: { host: 'q.example', ...headers } });
    const cookie = String(answer.headers['set-cookie'] ?? '').split(';', 1)[0] ?? '';
    return { answer, cookie, url: String(answer.headers.location) };
  }
  /** Sends the answer of the provider as the page of the console does. */
  const finish = (cookie: string, answer: URL | URLSearchParams, headers: object = {}) =>
    app.inject({
      method: 'POST',
      url: '/v1/sign_in/oidc',
      payload: { answer: (answer instanceof URL ? answer.searchParams : answer).toString() },
      headers: { host: 'q.example', origin, 'sec-fetch-site': 'same-origin', cookie, ...headers },
    });
  return {
    ...{ app, database, provider, lines, clock, registry, project, sessions, begin, finish, newId },
    accounts: () => database.read.selectFrom('account').select(['subject', 'email', 'is_administrator']).execute(),
    members: async () => {
      const rows = await database.read.selectFrom('member').select(['project_id', 'role', 'source']).execute();
      return rows.map((row) => Object.values(row).join(' '));
    },
    disableAccounts: () => database.write.updateTable('account').set({ disabled_at: 1 }).execute(),
    /** The number of sign-ins that wait. */
    countWaiting: async () =>
      (await database.read.selectFrom('oauth_record').select('hash').where('model', '=', 'SignIn').execute()).length,
    /** Signs the person of the provider in. */
    signIn: async (query = '', more = { session: '' }) => {
      const { cookie, url } = await begin(query);
      return finish(`${cookie}; ${more.session}`, await signInAtProvider(provider, url));
    },
  };
}

export type SignInApp = Awaited<ReturnType<typeof openSignInApp>>;
