import { asRun } from './answers.ts';
import type { Api, QueryOf } from './create-api.ts';
import type { ExecuteRequest, PluginsApi, Run, RunItem, RunProgress } from './generated/plugins-api.ts';
import { readServerEvents } from './server-events.ts';

/** One event of a run. A new connection continues after the event with its `id`. */
export type RunEvent =
  | { readonly kind: 'state'; readonly id: string | null; readonly run: RunItem }
  | { readonly kind: 'progress'; readonly id: string | null; readonly progress: RunProgress };

export interface FollowOptions {
  /** Id of the last event received: events up to it are left out. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds before a stream that ended early is opened again. */
const pauseMs = 500;

/** Runs of plugins: asynchronous ones, and the history of all. */
export function runCalls(api: Api<PluginsApi>) {
  const path = (runId: string) => ({ run_id: runId });

  async function* events(runId: string, { lastEventId, signal }: FollowOptions = {}): AsyncGenerator<RunEvent> {
    const headers = { 'last-event-id': lastEventId };
    const response = await api.send('GET /v1/runs/{run_id}/events', { path: path(runId), headers, signal });
    // No body: the run has ended, and its last event has been received already.
    if (response.body === null) return;
    for await (const { id, name, data } of readServerEvents(response.body)) {
      // The service writes both by the schemas of its document.
      if (name === 'state') yield { kind: 'state', id, run: JSON.parse(data) };
      if (name === 'progress') yield { kind: 'progress', id, progress: JSON.parse(data) };
    }
  }

  const runs = {
    /** Starts a run and does not wait for it. With an idempotency key a repeated call gives the same run. */
    start: async (body: ExecuteRequest, { idempotencyKey }: { idempotencyKey?: string } = {}) =>
      asRun(await api.data('POST /v1/execute', { body, headers: { prefer: 'respond-async' }, idempotencyKey })),
    list: (query: QueryOf<PluginsApi, 'GET /v1/runs'> = {}) => api.json('GET /v1/runs', { query }),
    /** With the result of an asynchronous run, or its error. */
    get: (runId: string) => api.data('GET /v1/runs/{run_id}', { path: path(runId) }),
    /** Ends a run that waits or runs; a run that has ended stays as it is. */
    cancel: (runId: string) => api.data('POST /v1/runs/{run_id}/cancel', { path: path(runId) }),
    /** The state now and each change, until the run has ended or the connection breaks. */
    events,
    /** Follows the run until it has ended, across broken connections. @returns the run as it is then */
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
          // A broken connection is a TypeError; a refusal would only be repeated.
          if (!(error instanceof TypeError)) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  };
  return runs;
}
