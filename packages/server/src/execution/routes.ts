import {
  Acknowledgement,
  ExecuteRequest,
  ExecuteResult,
  Success,
  VerifyCredentialsRequest,
} from '@quartermaster/contract';
import type { FastifyReply, onRequestHookHandler } from 'fastify';
import type { App } from '../http/app.ts';
import type { Execution, Executor } from './executor.ts';
import { outcomeProblem } from './problems.ts';

export interface ExecutionRoutesDeps {
  readonly executor: Executor;
  /** Authentication of the plugins address. */
  readonly onRequest: onRequestHookHandler;
}

/** Running plugins over HTTP. Source: interface §4.4; CONTRACT "Bundles and plugins". */
export function executionRoutes(app: App, { executor, onRequest }: ExecutionRoutesDeps): void {
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
      const execution = await executor.execute(request.body, goneSignal(reply));
      return answer(reply, execution, () => ({ status: 'success' as const, data: resultOf(execution) }));
    },
  );
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

function resultOf({ outcome, runId, durationMs }: Execution): ExecuteResult {
  const { output, violations } = outcome.kind === 'succeeded' ? outcome : { output: null, violations: [] };
  return {
    status: 200,
    data: output,
    run_id: runId,
    duration_ms: durationMs,
    ...(violations.length === 0 ? {} : { output_violations: [...violations] }),
  };
}
