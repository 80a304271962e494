import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { type BoundedLog, createBoundedLog } from '../log/bounded-log.ts';
import { accessEvent } from '../log/request-identity.ts';
import type { Problem } from '../problem.ts';
import type { App } from './app.ts';

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
export function noteProblem(request: FastifyRequest, problem: Problem): void {
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
            ...{ method: request.method, route: request.routeOptions.url ?? '(none)', status },
            ...{ code: problem?.code, reason: problem?.message.slice(0, longestReason) },
          },
          'request refused',
        );
      }
    }
    done();
  });
}
