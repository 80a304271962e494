import { asResult, asRun, readServerEvents } from '@quartermaster/client/api';
import type {
  ExecuteRequest,
  ExecuteResult,
  OptionsRequest,
  PropertyOptions,
  Run,
  RunProgress,
} from '@quartermaster/contract';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { pluginsApi } from './addresses.ts';

export const runsKey = ['runs'];
/** Polling interval, for proxies that hold back events. */
const lookMs = 5000;

/** One run. Until it ends, events update it. */
export function useRun(runId: string) {
  const queries = useQueryClient();
  const run = useQuery({
    queryKey: [...runsKey, runId],
    queryFn: () => readRun(runId),
    refetchInterval: ({ state }) => (isGoing(state.data) ? lookMs : false),
  });
  const isFollowed = isGoing(run.data);
  useEffect(() => {
    if (!isFollowed) return;
    const stop = new AbortController();
    // A broken stream is not opened again, because the query also polls.
    followRun(queries, runId, stop.signal).catch(() => undefined);
    return () => stop.abort();
  }, [queries, runId, isFollowed]);
  return run;
}

/** Does not use `EventSource`, which cannot send the headers of a session. */
async function followRun(queries: QueryClient, runId: string, signal: AbortSignal): Promise<void> {
  const queryKey = [...runsKey, runId];
  const { body } = await pluginsApi.send('GET /v1/runs/{run_id}/events', { path: { run_id: runId }, signal });
  if (body === null) return;
  for await (const { name, data } of readServerEvents(body)) {
    if (name === 'state') void queries.invalidateQueries({ queryKey });
    if (name !== 'progress') continue;
    const progress = JSON.parse(data) as RunProgress; // the event's schema
    queries.setQueryData<Run>(queryKey, (known) => known && { ...known, progress });
  }
}

/** The latest runs of a plugin, at most 100. */
export function useLatestRuns(bundle_id: string, plugin_id: string) {
  return useQuery({
    queryKey: [...runsKey, 'latest', bundle_id, plugin_id],
    queryFn: () => pluginsApi.data('GET /v1/runs', { query: { bundle_id, plugin_id, limit: 100 } }),
  });
}

export function readRun(runId: string): Promise<Run> {
  return pluginsApi.data('GET /v1/runs/{run_id}', { path: { run_id: runId } });
}

/** Whether the run is queued or running. */
export function isGoing(run: Run | undefined): boolean {
  return run !== undefined && run.status !== 'ended';
}

/** Cancels a queued or running run. @returns its new state */
export function cancelRun(runId: string): Promise<Run> {
  return pluginsApi.data('POST /v1/runs/{run_id}/cancel', { path: { run_id: runId } });
}

/** Runs a plugin and waits for its result. @throws ApiError */
export async function execute(body: ExecuteRequest, signal: AbortSignal): Promise<ExecuteResult> {
  return asResult(await pluginsApi.data('POST /v1/execute', { body, signal }));
}

/** Starts a plugin in the background. @returns the accepted run */
export async function startRun(body: ExecuteRequest): Promise<Run> {
  return asRun(await pluginsApi.data('POST /v1/execute', { body, headers: { prefer: 'respond-async' } }));
}

/** Asks the third party for the values of an input. @throws ApiError */
export function listOptions(
  { bundle_id, plugin_id }: { readonly bundle_id: string; readonly plugin_id: string },
  { search = '', ...body }: OptionsRequest,
  signal: AbortSignal,
): Promise<PropertyOptions> {
  return pluginsApi.data('POST /v1/plugins/{bundle_id}/{plugin_id}/options', {
    path: { bundle_id, plugin_id },
    body: search === '' ? body : { ...body, search },
    signal,
  });
}
