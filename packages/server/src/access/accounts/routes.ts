import { sessionOperations } from '@quartermaster/contract/operations';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acknowledgement, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import { identify } from '../../platform/log/request-identity.ts';
import { hasPassword, type StoredSession } from './account-repository.ts';
import type { Accounts, RequestOrigin } from './accounts.ts';
import type { Cookies } from './cookies.ts';
import { createDeviceCookie } from './device-cookie.ts';
import type { PeopleRepository } from './people-repository.ts';
import type { OriginCheck } from './same-origin.ts';
import { absoluteMs, endOf, type FoundSession, type NewSession, type Sessions } from './sessions.ts';

export interface AccountRoutesDeps {
  readonly accounts: Accounts;
  readonly people: PeopleRepository;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly origins: OriginCheck;
  /** False below a base path, where other applications have the same origin. A sign-out does not clear their data then. */
  readonly ownsOrigin: boolean;
  /** Returns the client's address, also behind trusted proxies. */
  readonly addressOf: (request: FastifyRequest) => string;
}

/** Registers set-up, sign-in and sign-out. Source: ADR 0038. */
export function accountRoutes(app: App, deps: AccountRoutesDeps): void {
  setUpRoutes(app, deps);
  signInRoute(app, deps);
  const found: FoundSessions = new WeakMap();
  sessionRoutes(app, deps, found);
  sessionListRoutes(app, deps, found);
}

function setUpRoutes(app: App, deps: AccountRoutesDeps): void {
  const { accounts } = deps;
  app.get('/v1/setup', { schema: sessionOperations.getSetUp }, async () => {
    const { expiresAt } = await accounts.getSetUp();
    return successEnvelope({ expires_timestamp: expiresAt });
  });
  app.post('/v1/setup', { onRequest: beginHook(deps), schema: sessionOperations.setUp }, async (request, reply) =>
    answerBegun(deps, reply, await accounts.setUp(request.body, originOf(deps, request))),
  );
}

function signInRoute(app: App, deps: AccountRoutesDeps): void {
  app.post('/v1/session', { onRequest: beginHook(deps), schema: sessionOperations.signIn }, async (request, reply) => {
    // A new sign-in ends the previous session. Its id is never reused.
    const replaces = deps.cookies.readSession(request.headers.cookie);
    return answerBegun(deps, reply, await deps.accounts.signIn(request.body, { ...originOf(deps, request), replaces }));
  });
}

function sessionRoutes(app: App, deps: AccountRoutesDeps, found: FoundSessions): void {
  const { accounts, sessions, cookies } = deps;
  const onRequest = useHook(deps, found);
  app.get('/v1/session', { onRequest, schema: sessionOperations.getSession }, async (request) => {
    const own = foundFor(found, request);
    const { id, email, isAdministrator } = own.account;
    const roles = await deps.people.listRoles(id);
    const projects = roles.map(({ projectId, role }) => ({ project_id: projectId, role }));
    return successEnvelope({ ...toWire(own, true), email, is_administrator: isAdministrator, projects });
  });
  app.delete('/v1/session', { onRequest, schema: sessionOperations.signOut }, async (request, reply) => {
    const { session, account } = foundFor(found, request);
    const everywhere = request.query.everywhere === true;
    await (everywhere ? sessions.endAll(account.id) : sessions.end(session));
    await request.server.audit.record(request, { action: 'signed_out', id: session.id, details: { everywhere } });
    reply.header('Set-Cookie', cookies.endSession());
    if (deps.ownsOrigin) reply.header('Clear-Site-Data', '"cache", "storage"');
    return acknowledgement;
  });
  app.post('/v1/session/password', { onRequest, schema: sessionOperations.changePassword }, async (request, reply) => {
    const session = foundFor(found, request);
    const begun = await accounts.changePassword(session, request.body, originOf(deps, request));
    return answerBegun(deps, reply, begun);
  });
}

function sessionListRoutes(app: App, deps: AccountRoutesDeps, found: FoundSessions): void {
  const { sessions, cookies } = deps;
  const onRequest = useHook(deps, found);
  app.get('/v1/sessions', { onRequest, schema: sessionOperations.listSessions }, async (request) => {
    const { session, account } = foundFor(found, request);
    const all = await sessions.list(account.id);
    const toItem = (item: StoredSession) => toWire({ session: item, account }, item.id === session.id);
    return pageOf(all, request.query, { kind: 'session', toWire: toItem });
  });
  app.delete(
    '/v1/sessions/:session_id',
    { onRequest, schema: sessionOperations.endSession },
    async (request, reply) => {
      const { session, account } = foundFor(found, request);
      const { session_id } = request.params;
      await sessions.endById(account.id, session_id);
      const details = { reason: 'ended' };
      await request.server.audit.record(request, { action: 'session.ended', id: session_id, details });
      if (session_id === session.id) reply.header('Set-Cookie', cookies.endSession());
      return acknowledgement;
    },
  );
}

/** Prevents pages of another origin from signing a user in or out. */
export function beginHook({ origins }: AccountRoutesDeps) {
  return async (request: FastifyRequest) => origins.checkOrigin({ method: request.method, headers: request.headers });
}

type FoundSessions = WeakMap<FastifyRequest, FoundSession>;

function foundFor(found: FoundSessions, request: FastifyRequest): FoundSession {
  const session = found.get(request);
  if (session === undefined) throw new Error('The route has no hook that finds the session.');
  return session;
}

/** Runs before the body is read, so that a request without a session learns nothing about its body. */
function useHook({ origins, sessions, cookies }: AccountRoutesDeps, found: FoundSessions) {
  return async (request: FastifyRequest) => {
    origins.check({ method: request.method, headers: request.headers });
    const session = await sessions.use(cookies.readTokens(request.headers));
    identify(request, { account: session.account.id });
    found.set(request, session);
  };
}

export function originOf(deps: AccountRoutesDeps, request: FastifyRequest): RequestOrigin {
  const deviceCookie = deps.cookies.readDeviceCookie(request.headers.cookie);
  const userAgent = request.headers['user-agent'];
  return { address: deps.addressOf(request), deviceCookie, userAgent, requestId: request.id };
}

export function answerBegun({ cookies }: AccountRoutesDeps, reply: FastifyReply, begun: NewSession) {
  const { account, token } = begun;
  reply.header('Set-Cookie', [
    cookies.writeSession(token.reveal(), absoluteMs / 1000),
    ...(hasPassword(account) ? [cookies.writeDeviceCookie(createDeviceCookie(account))] : []),
  ]);
  return successEnvelope({ ...toWire(begun, true), console_token: begun.consoleToken.reveal() });
}

function toWire({ session, account }: FoundSession, current: boolean) {
  return {
    object: 'Session' as const,
    session_id: session.id,
    account_id: account.id,
    name: account.name,
    created_timestamp: session.createdAt,
    last_used_timestamp: session.lastUsedAt,
    idle_expires_timestamp: endOf(session),
    expires_timestamp: session.expiresAt,
    client_address: session.clientAddress,
    user_agent: session.userAgent,
    current,
  };
}
