import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import build from 'fast-json-stringify';
import {
  errorCodes,
  type FastifyReply,
  type FastifySerializerCompiler,
  type FastifyServerOptions,
  fastify,
  LogController,
  type onSendHookHandler,
} from 'fastify';
import type { Rates } from '../admission/rates.ts';
import type { Audit } from '../audit/audit.ts';
import type { MinimumRate } from '../concurrency/minimum-rate.ts';
import type { Logger } from '../log/logger.ts';
import { Problem } from '../problem.ts';
import type { Watchdog } from '../server-process/watchdog.ts';
import type { App } from './app.ts';
import { explainBasePath } from './base-path.ts';
import {
  closeInStages,
  createClientErrorWriter,
  isBodyPending,
  isClosing,
  type LingerLimits,
  lingerLimits,
  lingerOnUnreadBodies,
} from './client-error.ts';
import { allowOrigins } from './cors.ts';
import { countRequests } from './count-requests.ts';
import type { Drain } from './drain.ts';
import { handleNotFound, logRefusals, writeError } from './error-writer.ts';
import { isTooLong, readJson } from './json-body.ts';
import { protectiveHeaders } from './protective-headers.ts';
import { type RequestMetrics, recordRequests } from './request-metrics.ts';
import { defaultReaderLimits, endSlowReaders, type ReaderLimits } from './slow-readers.ts';
import type { StreamAccess } from './stream-access.ts';
import { compileValidator } from './validation.ts';
import { watchRequests } from './watch-requests.ts';

export interface AppDeps {
  readonly logger: Logger;
  /** `files` or `plugins`. It names the address in logs and metrics. */
  readonly address: string;
  readonly requestMetrics: RequestMetrics;
  readonly audit: Audit;
  readonly drain: Drain;
  /** True when clients use HTTPS. Browsers are then instructed to keep using it. */
  readonly overHttps?: boolean;
  /** The path that a proxy removes from requests, such as `/quartermaster`; default: none. */
  readonly basePath?: string;
  /** Addresses and networks of proxies whose `X-Forwarded-For` contains the client; default: none. */
  readonly trustedProxies?: readonly string[];
  /** Origins whose pages may call with a key; default: none. */
  readonly corsOrigins?: readonly string[];
  /** Receives the requests in progress. */
  readonly watchdog?: Watchdog | undefined;
  /** Limits on clients that read responses slowly. */
  readonly readers?: ReaderLimits;
  /** Ends event streams with their key or session. By default they stay open. */
  readonly streams?: StreamAccess;
  /** Default: no rate limits. */
  readonly rates?: Pick<Rates, 'take'>;
  /** The minimum speed at which a JSON body must arrive. */
  readonly minimumRate?: MinimumRate;
  /** Limits on reading bodies whose requests were refused. */
  readonly linger?: LingerLimits;
  /** Milliseconds after which an idle connection is closed. */
  readonly keepAliveMs?: number;
}

/** The maximum size of a JSON body in bytes. */
export const maxBodyBytes = 1024 * 1024;
/** Longer than load balancers keep an idle connection (60 to 600 s). One that reuses a closed connection answers 502. */
const keepAliveMs = 620_000;
/** The maximum bytes of the path and of the names and values of all headers. */
export const maxHeaderBytes = 16 * 1024;
/** The maximum number of headers of a request. */
const maxHeaders = 200;
/** The minimum rate is the same as for uploads. */
const defaultMinimumRate: MinimumRate = { idle: 30_000, grace: 10_000, bytesPerSecond: 1024 };

/** These compilers replace Fastify's own. Its types require exactly those. */
const compilersFactory = {
  buildValidator: () => compileValidator,
  buildSerializer: () => compileSerializer,
} as unknown as NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/**
 * Creates a server without routes, with the settings common to both addresses: ids, errors, validation, limits,
 * records.
 */
export function createApp(deps: AppDeps): App {
  const readers = deps.readers ?? defaultReaderLimits;
  const headers = protectiveHeaders(deps.overHttps === true);
  const linger = deps.linger ?? lingerLimits;
  const clientErrors = createClientErrorWriter(headers, linger);
  const app = fastify({
    loggerInstance: deps.logger.child({ address: deps.address }),
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger for each request would cost more than its log line. The few lines about a request name its id
    // themselves.
    childLoggerFactory: (logger) => logger,
    trustProxy:
      deps.trustedProxies === undefined || deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: maxBodyBytes,
    // A slow but steady upload is valid, so only idle sockets and slow headers are aborted.
    requestTimeout: 0,
    connectionTimeout: readers.idleMs,
    // Load balancers keep idle connections for up to 60 s in general. A shorter time would let them send requests to closed connections.
    keepAliveTimeout: deps.keepAliveMs ?? keepAliveMs,
    // The time limit of headers starts with their first byte, so it does not apply to an idle connection.
    // Node refuses headers that reach its limit, so the limit is one byte higher.
    http: { headersTimeout: 15_000, maxHeaderSize: maxHeaderBytes + 1, requireHostHeader: false },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      closeUnread(request.raw, reply, linger);
      writeError(error, request, reply.headers(headers).header('x-request-id', request.id));
    },
    clientErrorHandler: clientErrors.write,
    routerOptions: { maxParamLength: 256 },
    exposeHeadRoutes: true,
    schemaController: { compilersFactory },
  }) as unknown as App; // the two differ only in the logger's type parameter

  app.decorate('audit', deps.audit).setErrorHandler(writeError);
  handleNotFound(app);
  const minimumRate = deps.minimumRate ?? defaultMinimumRate;
  readJson(app, minimumRate);
  // Node would silently drop further headers, Content-Length among them. `maxHeaderSize` bounds them until they are refused.
  app.server.maxHeadersCount = 0;
  clientErrors.listen(app.server);
  if (deps.rates !== undefined) countRequests(app, deps.rates);
  answerExpectations(app);
  endSlowReaders(app, { address: deps.address, metrics: deps.requestMetrics, limits: readers });
  if (deps.watchdog !== undefined) watchRequests(app, deps.watchdog);
  lingerOnUnreadBodies(app, linger);
  recordRequests(app, { logger: deps.logger, address: deps.address, metrics: deps.requestMetrics });
  logRefusals(app);
  prepareEventStreams(app, deps.streams);
  beginAnswers(app, headers, deps.drain);
  explainPublicUrl(app, deps);
  allowOrigins(app, deps.corsOrigins ?? []);
  return app;
}

/** Sets the headers of every answer, and refuses requests that programs could read differently. */
function beginAnswers(app: App, headers: ReturnType<typeof protectiveHeaders>, drain: Drain): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    drain.track(reply.raw);
    if (request.raw.rawHeaders.length > maxHeaders * 2) return done(tooManyHeaders());
    const message = ambiguity(request.raw);
    if (message === null) return done();
    return done(new Problem('INVALID_REQUEST', message, { headers: { Connection: 'close' } }));
  });
}

/** Does for a path that is not a valid URL what a hook does for others. */
function closeUnread(request: IncomingMessage, reply: FastifyReply, linger: LingerLimits): void {
  if (isBodyPending(request)) closeInStages(request.socket, linger);
  if (isClosing(request.socket)) reply.header('Connection', 'close');
}

/** Adds hints that name the setting of the public URL when it does not match the behaviour of the proxy. */
function explainPublicUrl(app: App, { address, basePath, overHttps, trustedProxies, logger }: AppDeps): void {
  const setting = `QUARTERMASTER_PUBLIC_${address.toUpperCase()}_URL`;
  if (basePath) explainBasePath(app, { basePath, setting });
  if (overHttps !== true && (trustedProxies?.length ?? 0) > 0) hintAtHttps(app, { logger, setting });
}

const acceptableId = /^[A-Za-z0-9._-]{1,64}$/;
const processMark = randomBytes(6).toString('hex');
let requestCount = 0;

/**
 * Returns an id that is unique but not secret. A random prefix of the process and a counter cost less than random bytes
 * for each request.
 */
function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  if (typeof sent === 'string' && acceptableId.test(sent)) return sent;
  return `req_${processMark}${(++requestCount).toString(36)}`;
}

function tooManyHeaders(): Problem {
  const message = `The request has too many headers. Send at most ${maxHeaders}.`;
  return new Problem('INVALID_REQUEST', message, { headers: { Connection: 'close' } });
}

/**
 * Returns why a request is ambiguous. Node accepts a repeated header and uses the first, but a proxy may have used the
 * other one.
 */
function ambiguity({ rawHeaders, headers, httpVersion }: IncomingMessage): string | null {
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined)
    return 'A request of HTTP/1.0 must not have a Transfer-Encoding header (RFC 9112 §6.1). Send Content-Length.';
  let hosts = 0;
  let authorization: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name?.length === 13 && name.toLowerCase() === 'authorization') {
      const value = rawHeaders[i + 1];
      if (authorization !== undefined && authorization !== value)
        return 'The request has two different Authorization headers. Send one.';
      authorization = value;
    }
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null;
  return 'The request must have exactly one Host header.';
}

/**
 * Answers `Expect: 100-continue` when the request has passed every `onRequest` hook, and therefore after
 * authentication. A JSON body that is too large is refused instead. HTTP/1.0 has no expectations.
 */
function answerExpectations(app: App): void {
  app.server.on('checkContinue', (request, response) => app.routing(request, response));
  app.addHook('preParsing', ({ headers, raw, routeOptions }, reply, _payload, done) => {
    if (headers.expect?.toLowerCase() !== '100-continue' || raw.httpVersion === '1.0') return done();
    const isJson = headers['content-type']?.startsWith('application/json') === true;
    if (isJson && isTooLong(raw, routeOptions.bodyLimit)) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    reply.raw.writeContinue();
    done();
  });
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
}

/**
 * Warns once when a trusted proxy reports HTTPS and the public URL has no https, because cookies then lack `Secure`.
 */
function hintAtHttps(app: App, { logger, setting }: { logger: Logger; setting: string }): void {
  let isSaid = false;
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && request.protocol === 'https') {
      isSaid = true;
      logger.warn({ setting }, 'public URL is not https: clients use https');
    }
    done();
  });
}

type Serialize = (data: unknown) => string;

const serializers = new WeakMap<object, Serialize>();

/**
 * Compiles the serializer of a schema when the first response needs it, as validators do. Most schemas describe errors
 * and are rarely used.
 */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  let serialize = serializers.get(schema);
  if (serialize === undefined) {
    serialize = atFirstUse(schema);
    serializers.set(schema, serialize);
  }
  return serialize;
};

function atFirstUse(schema: object): Serialize {
  let compiled: Serialize | undefined;
  return (data) => {
    compiled ??= build(schema);
    return compiled(data);
  };
}

const eventStream = 'text/event-stream';

/**
 * Headers of every event stream. Proxies would otherwise collect its events or compress them, so that they arrive late.
 * `X-Accel-Buffering` is for nginx, `no-transform` for proxies that compress.
 */
const streamHeaders = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

/**
 * Sets the headers of event streams and watches the streams. Only routes that may respond with an event stream have the
 * hook: those that declare it, and MCP.
 * @param streams ends streams with their key or session; without it they stay open
 */
function prepareEventStreams(app: App, streams: StreamAccess | undefined): void {
  const prepare: onSendHookHandler = (request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    if (typeof type === 'string' && type.startsWith(eventStream)) {
      reply.headers(streamHeaders);
      streams?.watch(request, reply.raw);
    }
    done(null, payload);
  };
  app.addHook('onRoute', (route) => {
    const { url, schema } = route;
    if (!url.startsWith('/mcp') && !JSON.stringify(schema?.response ?? {}).includes(eventStream)) return;
    route.onSend = [...[route.onSend ?? []].flat(), prepare];
  });
}
