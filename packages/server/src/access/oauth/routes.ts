import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';
import type { App } from '../../platform/http/app.ts';
import { accessEvent } from '../../platform/log/request-identity.ts';
import { pathNotFound } from '../../platform/problem.ts';
import { hashSecret } from './adapter.ts';
import type { AuthorizationServer, ProtocolRequest, ProtocolResponse } from './authorization-server.ts';
import { type ClientMetadata, MetadataError, readRegistration } from './client-metadata.ts';
import { openToPages } from './metadata-routes.ts';
import type { OauthEvent } from './oauth-metrics.ts';
import type { OauthRepository } from './oauth-repository.ts';
import { normaliseAuthorization, normaliseToken } from './protocol-parameters.ts';
import type { Resources } from './resources.ts';

export interface OauthRoutesDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly repository: OauthRepository;
  readonly resources: Resources;
  /** Creates the authorization server at the first call. */
  readonly open: (issuer: string) => Promise<AuthorizationServer>;
  readonly addressOf: (request: FastifyRequest) => string;
  readonly countEvent: (event: OauthEvent) => void;
}

const hidden = { schema: { hide: true } } as const;
const longestBody = 16 * 1024;
/** Registrations of one address and of this machine in an hour, and applications that nobody has allowed anything yet. */
export const registrations = { ofAddress: 20, ofThisMachine: 200, waiting: 5000 } as const;
/** Requests of one address and of this machine to `/oauth/token` in a minute. One address may serve many people. */
export const exchanges = { ofAddress: 300, ofThisMachine: 3000 } as const;
const hour = 3_600_000;
const minute = 60_000;

/** Serves the endpoints of the authorization server. The library answers requests that were checked and normalised here. */
export function oauthRoutes(app: App, deps: OauthRoutesDeps): void {
  authorizationRoutes(app, deps);
  // A separate scope, because no other route accepts forms.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    answerAsOauth(scope as App, 'invalid_request', 'application/x-www-form-urlencoded');
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: longestBody },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    formRoutes(scope as App, deps);
  });
  app.register(async (scope) => {
    answerAsOauth(scope as App, 'invalid_client_metadata', 'application/json');
    registrationRoute(scope as App, deps);
  });
  app.get('/oauth/jwks', hidden, (_request, reply) => openToPages(reply).send({ keys: [] }));
  for (const name of ['token', 'revoke', 'register', 'jwks']) {
    app.options(`/oauth/${name}`, hidden, (_request, reply) => openToPages(reply).code(204).send());
  }
}

/** Answers a body that cannot be read in the form of RFC 6749, because that is what applications read. */
function answerAsOauth(scope: App, error: string, type: string): void {
  scope.setErrorHandler((cause, _request, reply) => {
    const { statusCode } = cause as { statusCode?: number };
    if (![400, 413, 415].includes(statusCode ?? 0)) throw cause;
    const error_description = `The body must be ${type} with at most ${longestBody} bytes.`;
    return openToPages(reply)
      .code(statusCode ?? 400)
      .send({ error, error_description });
  });
}

/** @throws Problem OBJECT_NOT_FOUND while nobody can sign in */
async function handle(deps: OauthRoutesDeps, request: (issuer: string) => ProtocolRequest): Promise<ProtocolResponse> {
  const issuer = deps.resources.issuer();
  if (issuer === null) throw pathNotFound();
  return (await deps.open(issuer)).handle(request(issuer));
}

function authorizationRoutes(app: App, deps: OauthRoutesDeps): void {
  app.get('/oauth/authorize', hidden, async (request, reply) => {
    const sent = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
    const response = await handle(deps, (issuer) => {
      const parameters = normaliseAuthorization(sent, deps.resources, issuer);
      return { method: 'GET', url: `/oauth/authorize?${parameters}` };
    });
    if (String(response.headers.location ?? '').includes('/oauth/requests/')) deps.countEvent('requested');
    return sendToBrowser(response, request, reply);
  });
  app.get<{ Params: { request_id: string } }>('/oauth/authorize/:request_id', hidden, async (request, reply) => {
    const url = `/oauth/authorize/${encodeURIComponent(request.params.request_id)}`;
    const { cookie } = request.headers;
    return sendToBrowser(await handle(deps, () => ({ method: 'GET', url, cookie })), request, reply);
  });
}

/** Sends a redirect with the cookies of the request, or a text for people. The library's own session is not used. */
function sendToBrowser({ status, headers, body }: ProtocolResponse, request: FastifyRequest, reply: FastifyReply) {
  const cookies = [headers['set-cookie'] ?? []].flat().filter((cookie) => !cookie.startsWith('qm_oauth_session'));
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  const { location } = headers;
  if (typeof location === 'string') return reply.code(303).header('location', location).send();
  return reply
    .code(status)
    .type('text/plain; charset=utf-8')
    .send(
      `The application cannot sign in: ${errorOf(body)}. Begin again in the application. Request id: ${request.id}\n`,
    );
}

function errorOf(body: Buffer): string {
  try {
    const { error } = JSON.parse(body.toString('utf8')) as { error?: unknown }; // checked below
    return typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : 'server_error';
  } catch {
    return 'server_error';
  }
}

function formRoutes(app: App, deps: OauthRoutesDeps): void {
  for (const name of ['token', 'revoke'] as const) {
    app.post(`/oauth/${name}`, { ...hidden, bodyLimit: longestBody }, async (request, reply) => {
      const wait = name === 'token' ? await waitOf(deps, request, { ...exchanges, kind: 'token', period: minute }) : 0;
      if (wait > 0) return tooMany(openToPages(reply), 'token requests', wait);
      const sent = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
      const form = name === 'token' ? normaliseToken(sent, deps.resources) : sent;
      if (await isForAnotherServer(deps, form)) return openToPages(reply).code(400).send({ error: 'invalid_target' });
      const response = await handle(deps, () => ({ method: 'POST', url: `/oauth/${name}`, form }));
      if (name === 'token') noteExchange(deps, request, response.status);
      return openToPages(reply).code(response.status).type('application/json').send(response.body);
    });
  }
}

/** Whether a form has a code of another server. The library would use the code before it refuses it. */
async function isForAnotherServer({ repository, clock }: OauthRoutesDeps, form: URLSearchParams): Promise<boolean> {
  const [code, resource] = [form.get('code'), form.get('resource')];
  if (code === null || resource === null) return false;
  const found = await repository.findRecord('AuthorizationCode', hashSecret(code), clock.now());
  return found?.grant !== undefined && found.record.consumedAt === null && found.grant.resource !== resource;
}

function noteExchange({ countEvent }: OauthRoutesDeps, request: FastifyRequest, status: number): void {
  countEvent(status === 200 ? 'tokens_issued' : 'tokens_refused');
  if (status !== 200) request.log.info({ ...accessEvent('tokens_refused', request), status }, 'code or token refused');
}

/** Registers an application (RFC 7591). It is a fallback for applications without a metadata document, and therefore limited. */
function registrationRoute(app: App, deps: OauthRoutesDeps): void {
  const { repository, clock, newId, resources, countEvent } = deps;
  app.post('/oauth/register', { ...hidden, bodyLimit: longestBody }, async (request, reply) => {
    if (resources.issuer() === null) throw pathNotFound();
    openToPages(reply);
    let metadata: ClientMetadata;
    try {
      metadata = readRegistration(request.body);
    } catch (error) {
      if (!(error instanceof MetadataError)) throw error;
      return reply.code(400).send({ error: error.code, error_description: error.message });
    }
    const kind = `register ${siteOf(request.headers.origin)}`;
    const wait = await waitOf(deps, request, { ...registrations, kind, period: hour });
    if (wait > 0) return tooMany(reply, 'registrations', wait);
    const now = clock.now();
    const id = newId('client');
    const client = { id, kind: 'registered', metadata: { ...metadata }, createdAt: now, freshUntil: 0 } as const;
    if (!(await repository.addClient(client, registrations.waiting))) return tooMany(reply, 'registrations', 3600);
    countEvent('registered');
    request.log.info({ ...accessEvent('client_registered', request), application: id }, 'application registered');
    return reply.code(201).send({ client_id: id, client_id_issued_at: Math.floor(now / 1000), ...metadata });
  });
}

/** Pages have limits of their own, so that a page which a person opens does not use up those of programs. */
function siteOf(origin: string | undefined): string {
  if (origin === undefined) return 'program';
  return isLoopback(URL.parse(origin)?.hostname ?? '') ? 'local page' : 'page';
}

interface AddressLimit {
  readonly kind: string;
  readonly period: number;
  readonly ofAddress: number;
  readonly ofThisMachine: number;
}

/** Counts a request of an address. @returns 0, or the seconds until the address may send another one */
async function waitOf(
  { repository, clock, addressOf }: OauthRoutesDeps,
  request: FastifyRequest,
  { kind, period, ofAddress, ofThisMachine }: AddressLimit,
): Promise<number> {
  const now = clock.now();
  const window = Math.floor(now / period);
  const address = addressOf(request);
  const expiresAt = (window + 1) * period;
  const most = isLoopback(address) ? ofThisMachine : ofAddress;
  const isWithin = await repository.countEvent(hashSecret(`${kind} ${address} ${window}`), { expiresAt, most });
  return isWithin ? 0 : Math.ceil((expiresAt - now) / 1000);
}

function tooMany(reply: FastifyReply, what: string, seconds: number) {
  const error_description = `There were too many ${what}. Retry in ${seconds} seconds.`;
  return reply
    .code(429)
    .header('retry-after', String(seconds))
    .send({ error: 'temporarily_unavailable', error_description });
}
