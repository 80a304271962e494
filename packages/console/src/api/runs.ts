import type { ExecuteRequest, Run, RunProgress } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask, linkTo } from './call.ts';

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
    const key = [path, runId];
    const events = new EventSource(linkTo(`${path}/${runId}/events`));
    events.addEventListener('state', () => void queries.invalidateQueries({ queryKey: key }));
    events.addEventListener('progress', ({ data }) => {
      const progress = JSON.parse(data) as RunProgress; // the event's schema
      queries.setQueryData<Run>(key, (known) => known && { ...known, progress });
    });
    return () => events.close();
  }, [queries, runId, isFollowed]);
  return run;
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
