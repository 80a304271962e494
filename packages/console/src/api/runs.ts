import { readServerEvents } from '@quartermaster/client';
import type { ExecuteRequest, Run, RunProgress } from '@quartermaster/contract';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask, send } from './call.ts';

const path = '/plugins/v1/runs';
/** Where no event comes, because something in between holds them back, a run is still looked at. */
const lookMs = 5000;

/** One run; as long as it has not ended, what is said of it comes as it happens. */
export function useRun(runId: string) {
  const queries = useQueryClient();
  const run = useQuery({
    queryKey: [path, runId],
    queryFn: () => ask<Run>('GET', `${path}/${runId}`),
    refetchInterval: ({ state }) => (isGoing(state.data) ? lookMs : false),
  });
  const isFollowed = isGoing(run.data);
  useEffect(() => {
    if (!isFollowed) return;
    const stop = new AbortController();
    // A stream that breaks is not opened again: the run is requested every few seconds besides.
    followRun(queries, runId, stop.signal).catch(() => undefined);
    return () => stop.abort();
  }, [queries, runId, isFollowed]);
  return run;
}

/** Not by `EventSource`, which cannot send the headers of a session. */
async function followRun(queries: QueryClient, runId: string, signal: AbortSignal): Promise<void> {
  const queryKey = [path, runId];
  const { body } = await send('GET', `${path}/${runId}/events`, { signal });
  if (body === null) return;
  for await (const { name, data } of readServerEvents(body)) {
    if (name === 'state') void queries.invalidateQueries({ queryKey });
    if (name !== 'progress') continue;
    const progress = JSON.parse(data) as RunProgress; // the event's schema
    queries.setQueryData<Run>(queryKey, (known) => known && { ...known, progress });
  }
}

/** Whether it waits or is at work. */
export function isGoing(run: Run | undefined): boolean {
  return run !== undefined && run.status !== 'ended';
}

/** Ends a run that waits or is at work. @returns the run as it is then */
export function cancelRun(runId: string): Promise<Run> {
  return ask<Run>('POST', `${path}/${runId}/cancel`);
}

/** Has a plugin run without waiting for it. @returns the run that was accepted */
export function startRun(body: ExecuteRequest): Promise<Run> {
  return ask<Run>('POST', '/plugins/v1/execute', { body, headers: { Prefer: 'respond-async' } });
}
