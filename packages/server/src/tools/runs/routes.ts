import { Readable } from 'node:stream';
import { runOperations } from '@quartermaster/contract/operations';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { RunReader } from '../execution/background.ts';
import type { RunEvents } from './run-events.ts';
import type { Runs } from './runs.ts';

export interface RunRoutesDeps {
  readonly runs: Runs;
  readonly events: RunEvents;
  /** Authentication of the plugins address for reading. */
  readonly onRequest: onRequestHookHandler;
  /** Authentication of the plugins address for changes. */
  readonly onChange: onRequestHookHandler;
  readonly readerOf: (request: FastifyRequest) => RunReader;
  /** The id of the key that was sent, null without one. */
  readonly keyOf: (request: FastifyRequest) => string | null;
}

/**
 * Runs over HTTP, on the plugins address. A key sees the runs of its project. Where no key is required, a caller
 * without one sees the runs that were started without one. Source: ADR 0026.
 */
export function runRoutes(app: App, deps: RunRoutesDeps): void {
  readRoutes(app, deps);
  cancelRoute(app, deps);
  eventsRoute(app, deps);
}

function readRoutes(app: App, { runs, onRequest, readerOf }: RunRoutesDeps): void {
  app.get('/v1/runs', { onRequest, schema: runOperations.listRuns }, async (request) => {
    return listEnvelope(await runs.list(readerOf(request), request.query));
  });
  app.get('/v1/runs/:run_id', { onRequest, schema: runOperations.getRun }, async (request) => {
    const data = await runs.get(readerOf(request), request.params.run_id);
    return successEnvelope(data);
  });
}

function cancelRoute(app: App, { runs, onChange, readerOf }: RunRoutesDeps): void {
  app.post('/v1/runs/:run_id/cancel', { onRequest: onChange, schema: runOperations.cancelRun }, async (request) => {
    const data = await runs.cancel(readerOf(request), request.params.run_id);
    return successEnvelope(data);
  });
}

function eventsRoute(app: App, { events, onRequest, readerOf, keyOf }: RunRoutesDeps): void {
  app.get(
    '/v1/runs/:run_id/events',
    { onRequest, exposeHeadRoute: false, schema: runOperations.followRun },
    async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const selection = { ...readerOf(request), keyId: keyOf(request), runId: request.params.run_id };
      const lastEventId = request.headers['last-event-id'];
      const stream = await events.follow({ ...selection, lastEventId }, gone.signal);
      if (stream === null) return reply.code(204).send(null);
      reply.header('Content-Type', 'text/event-stream; charset=utf-8');
      // The schema describes the body as text; the body is sent as a stream.
      return reply.send(Readable.from(stream) as unknown as string);
    },
  );
}
