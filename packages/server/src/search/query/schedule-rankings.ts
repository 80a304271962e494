import type { Owner } from '../../kernel/admission/owner.ts';
import { createFairSemaphore } from '../../kernel/concurrency/fair-semaphore.ts';

/** Rankings that run at the same time. Two threads rank, and a second ranking waits for each of them, so that none is idle. */
export const mostConcurrentRankings = 4;

export interface RankingOwner extends Owner {
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a ranking of a question when it is its turn. Waiting rankings are started in turn among projects and their keys, so
 * that a project with many questions delays one of another project by a few rankings only. A ranking that starts another one
 * and waits for it may never end.
 * @throws the reason of the signal
 */
export type ScheduleRanking = <T>(owner: RankingOwner, rank: () => Promise<T>) => Promise<T>;

const never = new AbortController().signal;

export function createRankingScheduler(permits = mostConcurrentRankings): ScheduleRanking {
  const semaphore = createFairSemaphore({ permits });
  return async ({ projectId, keyId, signal = never }, rank) => {
    const ranked = await semaphore.run({ projectId, keyId }, signal, async () => ({ result: await rank() }));
    if (ranked !== null) return ranked.result;
    throw signal.reason;
  };
}
