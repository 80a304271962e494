import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type BoundedLog, createBoundedLog } from '../log/bounded-log.ts';
import { accessEvent } from '../log/request-identity.ts';
import { Problem, pathNotFound } from '../problem.ts';
import { quoteText } from '../quote-text.ts';
import type { App } from './app.ts';
import { validationProblem } from './validation.ts';

const jsonType = 'application/json; charset=utf-8';

/** An error response in the form of one API. */
export interface ErrorResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
}

/**
 * Writes every error response of both addresses, except on routes with {@link createErrorWriter}. Source:
 * docs/contract.md "Both addresses".
 */
export const writeError = createErrorWriter((problem, request) => {
  const asProblemJson = wantsProblemJson(request.headers.accept);
  return {
    status: problem.status,
    contentType: asProblemJson ? 'application/problem+json' : jsonType,
    body: asProblemJson ? problemBody(problem, request.id) : errorBody(problem, request.id),
  };
});

/** Creates the error handler of routes whose errors have the form of another API. */
export function createErrorWriter(answerOf: (problem: Problem, request: FastifyRequest) => ErrorResponse) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = toProblem(error, request);
    logProblem(problem, error, request);
    const { status, contentType, body } = answerOf(problem, request);
    reply
      .code(status)
      .headers(problem.headers)
      .header('Content-Type', contentType)
      .header('Cache-Control', 'no-store')
      .serializer((answer: unknown) => JSON.stringify(answer))
      .send(body);
  };
}

export type CreateErrorWriter = typeof createErrorWriter;

/**
 * Statuses that are not caused by a fault of the service: a setting is missing, another service failed, the load is too high, or a
 * quota or the reserve of the disk is used up. The service logs once when it begins to refuse uploads.
 */
const withoutFault: ReadonlySet<number> = new Set([501, 502, 503, 507]);

function logProblem(problem: Problem, error: unknown, request: FastifyRequest): void {
  noteProblem(request, problem);
  if (problem.isFault || (problem.status >= 500 && !withoutFault.has(problem.status))) {
    request.log.error({ err: error, request_id: request.id, code: problem.code }, 'request failed');
  }
}

/** Builds the error envelope. */
export function errorBody(problem: Problem, requestId: string) {
  return {
    status: 'error',
    error: {
      code: problem.code,
      message: problem.message,
      ...(problem.details === undefined ? {} : { details: problem.details }),
      request_id: requestId,
    },
  };
}

/** Builds the same error in the form of RFC 9457. */
function problemBody(problem: Problem, requestId: string) {
  return {
    type: `urn:quartermaster:error:${problem.code}`,
    title: problem.code,
    status: problem.status,
    detail: problem.message,
    ...(problem.details === undefined ? {} : { details: problem.details }),
    request_id: requestId,
  };
}

function wantsProblemJson(accept: string | undefined): boolean {
  return accept?.includes('application/problem+json') === true;
}

function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const failure = error as Partial<FastifyError>; // Fastify's own errors carry a code and a status
  if (failure.validation !== undefined) {
    const part = failure.validationContext === 'querystring' ? 'query' : failure.validationContext;
    return validationProblem(failure.validation, part);
  }
  const known = failure.code === undefined ? undefined : frameworkProblems[failure.code];
  if (known !== undefined) return known(request, error);
  if (failure.statusCode !== undefined && failure.statusCode >= 400 && failure.statusCode < 500) {
    return new Problem('INVALID_REQUEST', 'The request is malformed. Check its syntax.', { cause: error });
  }
  return new Problem(
    'INTERNAL_SERVER_ERROR',
    'The service failed unexpectedly. Search its log for the request id to find the reason.',
    { cause: error },
  );
}

/** Replaces Fastify's own errors by their codes. */
const frameworkProblems: Record<string, (request: FastifyRequest, cause: unknown) => Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions }, cause) =>
    new Problem('FILE_TOO_LARGE', `The request body must be at most ${routeOptions.bodyLimit} bytes; received more.`, {
      cause,
    }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ({ headers }, cause) =>
    new Problem(
      'UNSUPPORTED_MEDIA_TYPE',
      `Content-Type must be application/json; received ${quoteText(headers['content-type'] ?? '')}.`,
      { cause },
    ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: (_request, cause) =>
    new Problem('INVALID_REQUEST', 'The body ended early, or it is not valid HTTP. Check its length and its chunks.', {
      cause,
    }),
  FST_ERR_CTP_EMPTY_JSON_BODY: (_request, cause) =>
    new Problem('INVALID_REQUEST', 'The body is empty. Send JSON.', { cause }),
  FST_ERR_BAD_URL: (_request, cause) =>
    new Problem('INVALID_REQUEST', 'The path is not a valid URL path. Percent-encode special characters.', { cause }),
  FST_ERR_MAX_PARAM_LENGTH: () => pathNotFound(),
};

/** Error codes of requests that the client must correct. */
const codes = new Set(['APIKEY_VALIDATION_FAILED', 'SESSION_VALIDATION_FAILED', 'PERMISSION_DENIED']);
const problems = new WeakMap<IncomingMessage, Problem>();
/** The files address passes requests to the plugins address. Each request is logged only once. */
const logged = new WeakSet<IncomingMessage>();
const longestReason = 200;
const mostInMinute = 60;
/** Warnings about one condition of the machine. Each request meets it. */
const conditionsInMinute = 1;

/** Stores the reason of an error response for the log. */
function noteProblem(request: FastifyRequest, problem: Problem): void {
  problems.set(request.raw, problem);
}

/**
 * Logs a condition of the machine that refuses requests, such as a full disk, and one line for each request with a wrong key, an ended session, a missing scope, a foreign origin or host, or
 * without the header against forged requests. The number of lines is bounded, because any client can cause them.
 */
export function logRefusals(app: App): void {
  const log = createBoundedLog(app.log, mostInMinute);
  const conditionLogs = new Map<string, BoundedLog>();
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply;
    const problem = problems.get(request.raw);
    const { condition, cause, message, code } = problem ?? {};
    if (condition !== undefined && !logged.has(request.raw)) {
      logged.add(request.raw);
      const conditionLog = conditionLogs.get(condition) ?? createBoundedLog(app.log, conditionsInMinute);
      conditionLogs.set(condition, conditionLog);
      const reason = cause instanceof Error ? cause.message : message;
      const fields = { condition, status, code, reason: reason?.slice(0, longestReason) };
      conditionLog.warn({ ...accessEvent('request_failed', request), ...fields }, 'request failed');
    }
    if ((status === 401 || status === 403) && !logged.has(request.raw)) {
      logged.add(request.raw);
      if (problem === undefined || (codes.has(problem.code) && !problem.isLogged)) {
        log.warn(
          {
            ...accessEvent('request_refused', request),
            method: request.method,
            route: request.routeOptions.url ?? '(none)',
            status,
            code: problem?.code,
            reason: problem?.message.slice(0, longestReason),
          },
          'request refused',
        );
      }
    }
    done();
  });
}

/** Responds with 404 for unknown paths, and with 405 and `Allow` for methods that a path does not support. */
export function handleNotFound(app: App): void {
  const routes: Array<{ pattern: RegExp; methods: readonly string[] }> = [];
  app.addHook('onRoute', (route) => {
    routes.push({ pattern: patternOf(route.url), methods: [route.method].flat().map(String) });
  });
  app.setNotFoundHandler((request) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set(routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods));
    if (methods.size === 0) throw pathNotFound();
    const allow = [...methods].sort().join(', ');
    throw new Problem('METHOD_NOT_ALLOWED', `${request.method} is not allowed here. Allowed methods: ${allow}.`, {
      headers: { Allow: allow },
    });
  });
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  // composed: the paths are fixed, and a parameter ends at the next slash, so there is only one way to match.
  return new RegExp(`^${source}$`);
}
