import type { Admission } from '../../kernel/admission/admission.ts';
import type { Owner } from '../../kernel/admission/owner.ts';
import { queues } from '../../kernel/admission/queues.ts';

/** Rankings that run at the same time. Two threads rank, and a second ranking waits for each of them, so that none is idle. */
export const mostConcurrentRankings = queues.rankings.atOnce;

export interface RankingOwner extends Owner {
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a ranking of a question when it is its turn. Waiting rankings are started in turn among projects and their keys, so
 * that a project with many questions delays one of another project by a few rankings only. A ranking that starts another one
 * and waits for it may never end.
 * @throws the reason of the signal, and Problem TOO_MANY_REQUESTS when too many rankings wait
 */
export type ScheduleRanking = <T>(owner: RankingOwner, rank: () => Promise<T>) => Promise<T>;

const never = new AbortController().signal;

export function createRankingScheduler(admission: Admission): ScheduleRanking {
  const queue = admission.queue('rankings');
  return async ({ projectId, keyId, signal = never }, rank) => {
    const ranked = await queue.run({ projectId, keyId }, async () => ({ result: await rank() }), { signal });
    if (ranked !== null) return ranked.result;
    throw signal.reason;
  };
}
