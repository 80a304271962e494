import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '@quartermaster/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { sourceOf } from '../../platform/audit/audit.ts';
import type { App } from '../../platform/http/app.ts';
import { Problem } from '../../platform/problem.ts';
import { readCookie } from '../accounts/cookies.ts';
import type { OriginCheck } from '../accounts/same-origin.ts';
import type { ConnectFlow, Finished } from './connect-flow.ts';
import { type ConnectPage, createConnectPages, readLanguage, writePage } from './connect-page.ts';
import { ConnectError, type Connecting } from './connect-steps.ts';
import { linkMs } from './connections.ts';

export interface ConnectRoutesDeps {
  readonly flow: ConnectFlow;
  readonly origins: OriginCheck;
  /** The URL below which browsers reach the pages. */
  readonly baseUrl: () => string;
}

/** Errors after which the person can enter the credentials again. */
const entryErrors: ReadonlySet<ErrorCode> = new Set([
  ...(['REQUEST_VALIDATION_ERROR', 'CREDENTIALS_VALIDATION_ERROR', 'TOO_MANY_REQUESTS'] as const),
  ...(['PROVIDER_ERROR', 'PROVIDER_RATE_LIMITED', 'PLUGIN_TIMEOUT'] as const),
]);
const longestBody = 64 * 1024;
const params = Type.Object({ token: Type.String({ minLength: 43, maxLength: 43 }) });
const Query = Type.Object({ state: Type.Optional(Type.String({ maxLength: 128 })) });
const hidden = { schema: { hide: true } } as const;

/** Serves the pages of the connections of end users. People without an account of this service open them. */
export function connectRoutes(app: App, deps: ConnectRoutesDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: longestBody },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    scope.setErrorHandler((error, request, reply) => {
      if (Reflect.get(Object(error), 'code') !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error;
      return answer(request, reply, () =>
        Promise.reject(new ConnectError('too_large', undefined, String(longestBody))),
      );
    });
    linkRoutes(scope as App, deps);
    answerRoutes(scope as App, deps);
  });
}

function linkRoutes(app: App, { flow, origins, baseUrl }: ConnectRoutesDeps): void {
  const action = (token: string) => `${pathOf(baseUrl())}/connect/${token}`;
  app.get('/connect/:token', { schema: { hide: true, params } }, (request, reply) =>
    answer(request, reply, async (pages) => {
      const { token } = request.params;
      return pages.link(await flow.describe(token), action(token));
    }),
  );
  app.post('/connect/:token', { schema: { hide: true, params } }, (request, reply) =>
    answer(request, reply, async (pages) => {
      origins.checkOrigin(request);
      const { token } = request.params;
      const of = await flow.describe(token);
      if (of.bundle.oauth === undefined) {
        try {
          return await finish(request, pages, await flow.submit(token, entered(of, request.body)));
        } catch (error) {
          if (!(error instanceof Problem) || !entryErrors.has(error.code)) throw error;
          return pages.link(of, action(token), error);
        }
      }
      const { state, secret, url } = await flow.start(token);
      reply.header('set-cookie', writeCookie(baseUrl(), state, secret));
      return pages.leave(of, url);
    }),
  );
}

function answerRoutes(app: App, { flow, origins, baseUrl }: ConnectRoutesDeps): void {
  app.get('/connect/callback', hidden, (request, reply) =>
    answer(request, reply, async () => {
      const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
      const state = query.get('state') ?? '';
      await flow.receive(query, secretOf(request, state));
      // Another URL, so that the browser keeps no code in its history.
      return `${pathOf(baseUrl())}/connect/confirm?state=${encodeURIComponent(state)}`;
    }),
  );
  app.get('/connect/confirm', { schema: { hide: true, querystring: Query } }, (request, reply) =>
    answer(request, reply, async (pages) => {
      const { state = '' } = request.query;
      const answered = await flow.describeAnswer(state, secretOf(request, state));
      return pages.answer(
        answered,
        answered,
        `${pathOf(baseUrl())}/connect/confirm?state=${encodeURIComponent(state)}`,
      );
    }),
  );
  app.post('/connect/confirm', { schema: { hide: true, querystring: Query } }, (request, reply) =>
    answer(request, reply, async (pages) => {
      origins.checkOrigin(request);
      const { state = '' } = request.query;
      const isConfirmed = Reflect.get(Object(request.body), 'decision') === 'connect';
      return await finish(request, pages, await flow.decide(state, secretOf(request, state), isConfirmed));
    }),
  );
}

type Pages = ReturnType<typeof createConnectPages>;

/** Without a return URL the connection is complete. Otherwise the application confirms it. */
async function finish(request: FastifyRequest, pages: Pages, of: Finished): Promise<ConnectPage> {
  if (of.returnUrl === null || of.confirmation === null) {
    await record(request, of, 'connection.connected');
    return pages.done(of);
  }
  return leave(pages, of, of.returnUrl, { confirmation: of.confirmation });
}

function leave(pages: Pages, of: Connecting, returnUrl: string, more: Readonly<Record<string, string>>): ConnectPage {
  const url = new URL(returnUrl);
  for (const [name, value] of Object.entries({ connection_id: of.row.id, ...more })) url.searchParams.set(name, value);
  return pages.leave(of, url);
}

const statusOf = {
  link_unknown: 404,
  link_used: 403,
  other_browser: 403,
  cancelled: 403,
  too_large: 413,
  refused: 403,
  unavailable: 502,
  misconfigured: 501,
} as const;

/** Sends a page, or redirects to a path. Errors that a person can understand are pages too. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  run: (pages: Pages) => Promise<ConnectPage | string>,
): Promise<FastifyReply> {
  const language = readLanguage(request.headers['accept-language']);
  const pages = createConnectPages(language);
  const nonce = randomBytes(16).toString('base64url');
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  reply.header('content-security-policy', policy).header('cache-control', 'no-store');
  // Not `no-referrer`, because browsers then hide the origin of forms, too. Other sites get no referrer.
  reply.header('referrer-policy', 'same-origin').header('x-robots-tag', 'noindex');
  const send = (page: ConnectPage) => reply.type('text/html; charset=utf-8').send(writePage(page, language, nonce));
  try {
    const found = await run(pages);
    return typeof found === 'string' ? reply.code(303).header('location', found).send() : send(found);
  } catch (thrown) {
    // The connection was deleted meanwhile.
    const isGone = thrown instanceof Problem && thrown.code === 'OBJECT_NOT_FOUND';
    const error = isGone ? new ConnectError('link_unknown') : thrown;
    if (!(error instanceof ConnectError)) throw error;
    const { refusal, of, code } = error;
    if (of !== undefined) await record(request, of, 'connection.refused', { reason: code ?? refusal });
    // As OAuth does, so that the application learns of it.
    const returnUrl = refusal === 'cancelled' ? of?.returnUrl : null;
    if (of !== undefined && returnUrl) return send(leave(pages, of, returnUrl, { error: 'access_denied' }));
    reply.code(statusOf[refusal]);
    return send(pages.error(error));
  }
}

async function record(
  request: FastifyRequest,
  { row: { id, projectId } }: Connecting,
  action: 'connection.connected' | 'connection.refused',
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (action === 'connection.connected')
    return await request.server.audit.record(request, { action, id, projectId, details });
  request.server.audit.recordRefusal(sourceOf(request), { action, id, projectId, details });
}

/** The members of the form that are credentials of the bundle. An empty field, or one of spaces, is none. */
function entered({ bundle: { fields } }: Connecting, body: unknown): Record<string, unknown> {
  const given = fields.map(({ name }) => [name, Reflect.get(Object(body), name)] as const);
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value.trim() !== ''));
}

function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

const cookieName = (state: string) => `quartermaster_connect_${state.slice(0, 12)}`;

/** `Lax`, because the provider sends the browser back. Each flow has its own, so that a browser can connect two services at once. */
function writeCookie(baseUrl: string, state: string, secret: string): string {
  const isSecure = baseUrl.startsWith('https:');
  const attributes = `Max-Age=${linkMs / 1000}; Path=${pathOf(baseUrl)}/connect; HttpOnly; SameSite=Lax`;
  return `${cookieName(state)}=${secret}; ${attributes}${isSecure ? '; Secure' : ''}`;
}

function secretOf(request: FastifyRequest, state: string): string {
  return readCookie(request.headers.cookie, cookieName(state)) ?? '';
}
