import type { ExecuteRequest, Run, RunItem, RunProgress, RunQuery } from '@quartermaster/contract';
import type { Page } from './create-client.ts';
import { type Connection, send, sendForJson } from './request.ts';
import { readServerEvents } from './server-events.ts';

interface Data<T> {
  readonly status: 'success';
  readonly data: T;
}

/** What the events of a run tell. `id` says where to go on when the connection breaks. */
export type RunEvent =
  | { readonly kind: 'state'; readonly id: string | null; readonly run: RunItem }
  | { readonly kind: 'progress'; readonly id: string | null; readonly progress: RunProgress };

export interface FollowOptions {
  /** Of the last event that came: it does not come again. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds before a stream that ended early is opened anew. */
const pauseMs = 500;

/** Runs of plugins: those asked for asynchronously, and the record of all. */
export function runCalls(connection: Connection) {
  const place = (runId: string, what = '') => `/v1/runs/${encodeURIComponent(runId)}${what}`;

  async function* events(runId: string, options: FollowOptions = {}): AsyncGenerator<RunEvent> {
    const { lastEventId, signal } = options;
    const headers = lastEventId === undefined ? undefined : { 'Last-Event-ID': lastEventId };
    const answer = await send(connection, { method: 'GET', path: place(runId, '/events'), headers, signal });
    // No body: it has ended, and its last event has come already.
    if (answer.body === null) return;
    for await (const { id, name, data } of readServerEvents(answer.body)) {
      // The service writes both by the contract.
      if (name === 'state') yield { kind: 'state', id, run: JSON.parse(data) as RunItem };
      if (name === 'progress') yield { kind: 'progress', id, progress: JSON.parse(data) as RunProgress };
    }
  }

  const runs = {
    /** Asks for a run that goes on by itself. With an idempotency key a repeated call gives the same run. */
    start: async (request: ExecuteRequest, options: { idempotencyKey?: string } = {}) => {
      const { idempotencyKey } = options;
      const key = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
      const headers = { Prefer: 'respond-async', ...key };
      const call = { method: 'POST', path: '/v1/execute', body: request, headers } as const;
      return (await sendForJson<Data<Run>>(connection, call)).data;
    },
    list: (query?: RunQuery) => sendForJson<Page<RunItem>>(connection, { method: 'GET', path: '/v1/runs', query }),
    /** With the result of an asynchronous run, or its error. */
    get: async (runId: string) =>
      (await sendForJson<Data<Run>>(connection, { method: 'GET', path: place(runId) })).data,
    /** Ends a run that waits or runs; one that has ended stays as it is, as the answer tells. */
    cancel: async (runId: string) =>
      (await sendForJson<Data<Run>>(connection, { method: 'POST', path: place(runId, '/cancel') })).data,
    /** What is now and each change, until the run has ended or the connection breaks. */
    events,
    /** Follows the run until it has ended, over streams that break too, and gives it then. */
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
          // A connection that broke; a refusal would come again with the next call.
          if (!(error instanceof TypeError)) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  };
  return runs;
}
