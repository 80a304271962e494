import { asRun } from './answers.ts';
import type { Api, QueryOf } from './create-api.ts';
import type { ExecuteRequest, PluginsApi, Run, RunItem, RunProgress } from './generated/plugins-api.ts';
import { readServerEvents } from './server-events.ts';

/** One event of a run. A new connection can continue after the event with this `id`. */
export type RunEvent =
  | { readonly kind: 'state'; readonly id: string | null; readonly run: RunItem }
  | { readonly kind: 'progress'; readonly id: string | null; readonly progress: RunProgress };

export interface FollowOptions {
  /** The id of the last received event. The stream continues after it. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds before a stream that ended early is opened again. */
const pauseMs = 500;

/** Asynchronous runs, and the history of all runs. */
export function runCalls(api: Api<PluginsApi>) {
  const path = (runId: string) => ({ run_id: runId });

  async function* events(runId: string, { lastEventId, signal }: FollowOptions = {}): AsyncGenerator<RunEvent> {
    const headers = { 'last-event-id': lastEventId };
    const response = await api.send('GET /v1/runs/{run_id}/events', { path: path(runId), headers, signal });
    // Without a body the run has ended and the client has received its last event.
    if (response.body === null) return;
    for await (const { id, name, data } of readServerEvents(response.body)) {
      // The service writes both in the format of its OpenAPI document.
      if (name === 'state') yield { kind: 'state', id, run: JSON.parse(data) };
      if (name === 'progress') yield { kind: 'progress', id, progress: JSON.parse(data) };
    }
  }

  const runs = {
    /** Starts a run without waiting for it. With an idempotency key a repeated call returns the same run. */
    start: async (body: ExecuteRequest, { idempotencyKey }: { idempotencyKey?: string } = {}) =>
      asRun(await api.data('POST /v1/execute', { body, headers: { prefer: 'respond-async' }, idempotencyKey })),
    list: (query: QueryOf<PluginsApi, 'GET /v1/runs'> = {}) => api.json('GET /v1/runs', { query }),
    /** Returns a run; for an asynchronous run with its result or error. */
    get: (runId: string) => api.data('GET /v1/runs/{run_id}', { path: path(runId) }),
    /** Cancels a waiting or running run. A run that has ended stays unchanged. */
    cancel: (runId: string) => api.data('POST /v1/runs/{run_id}/cancel', { path: path(runId) }),
    /** Yields the current state and each change until the run ends or the connection breaks. */
    events,
    /** Follows a run until it ends, and reconnects when the connection breaks. @returns the final run */
    ended: async (runId: string, signal?: AbortSignal): Promise<Run> => {
      for (;;) {
        const run = await runs.get(runId);
        if (run.status === 'ended') return run;
        try {
          for await (const event of events(runId, { signal })) {
            if (event.kind === 'state' && event.run.status === 'ended') return await runs.get(runId);
          }
        } catch (error) {
          signal?.throwIfAborted();
          // A broken connection is a TypeError. A retry cannot change an error response.
          if (!(error instanceof TypeError)) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  };
  return runs;
}
