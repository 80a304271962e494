import {
  Acknowledgement,
  ExecuteRequest,
  ExecuteResult,
  Success,
  VerifyCredentialsRequest,
} from '@quartermaster/contract';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { App } from '../http/app.ts';
import { readIdempotencyKey } from '../idempotency/idempotency.ts';
import { resultOf } from './answers.ts';
import type { Execution, Executor } from './executor.ts';
import { outcomeProblem } from './problems.ts';
import type { RunOnce } from './run-once.ts';

export interface ExecutionRoutesDeps {
  readonly executor: Executor;
  /** Authentication of the plugins address. */
  readonly onRequest: onRequestHookHandler;
  /** The project of the key that was sent, null without one. */
  readonly projectOf: (request: FastifyRequest) => string | null;
  readonly once: RunOnce;
}

/** Running plugins over HTTP. Source: interface §4.4; CONTRACT "Bundles and plugins". */
export function executionRoutes(app: App, deps: ExecutionRoutesDeps): void {
  executeRoute(app, deps);
  verifyRoute(app, deps);
}

function executeRoute(app: App, { executor, onRequest, projectOf, once }: ExecutionRoutesDeps): void {
  app.post(
    '/v1/execute',
    {
      onRequest,
      schema: {
        operationId: 'execute',
        tags: ['execution'],
        summary: 'Runs a plugin with the credentials of this request.',
        body: ExecuteRequest,
        response: { 200: Success(ExecuteResult) },
      },
    },
    async (request, reply) => {
      const key = readIdempotencyKey(request.headers['idempotency-key']);
      if (key !== undefined) {
        const place = { projectId: projectOf(request) ?? '-', key };
        // It goes on when the client has gone: the retry shall find its answer.
        const run = () => executor.execute(request.body, never);
        return { status: 'success' as const, data: await once.runOnce(place, request.body, run) };
      }
      const execution = await executor.execute(request.body, goneSignal(reply));
      return answer(reply, execution, () => ({ status: 'success' as const, data: resultOf(execution) }));
    },
  );
}

const never = new AbortController().signal;

function verifyRoute(app: App, { executor, onRequest }: ExecutionRoutesDeps): void {
  app.post(
    '/v1/verify_credentials',
    {
      onRequest,
      schema: {
        operationId: 'verifyCredentials',
        tags: ['execution'],
        summary: 'Asks the third party whether credentials work.',
        body: VerifyCredentialsRequest,
        response: { 200: Acknowledgement },
      },
    },
    async (request, reply) => {
      const execution = await executor.verifyCredentials(request.body, goneSignal(reply));
      return answer(reply, execution, () => ({ status: 'success' as const }));
    },
  );
}

/** Aborts when the client has gone before it was answered. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** The body of a success; a Problem for every other end. A cancelled run has nobody left to answer. */
function answer<T>(reply: FastifyReply, { outcome, runId }: Execution, success: () => T): T | FastifyReply {
  if (outcome.kind === 'succeeded') return success();
  if (outcome.kind === 'cancelled') return reply.hijack();
  throw outcomeProblem(outcome, runId);
}
