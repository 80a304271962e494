import type { Admission } from '../../../platform/admission/admission.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import { queues } from '../../../platform/admission/queues.ts';

/** Rankings that run at the same time. Two threads rank, and a second ranking waits for each of them, so that none is idle. */
export const mostConcurrentRankings = queues.rankings.atOnce;

/**
 * Rankings of more words may take a second. One key runs one of them at a time, so that it never occupies both threads, which
 * also answer lists.
 */
export const longRankingWords = 100;

export interface RankingOwner extends Owner {
  /** The words of the question. */
  readonly words: readonly string[];
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
  const all = admission.queue('rankings');
  const long = admission.queue('long_rankings');
  return async ({ projectId, keyId, words, signal = never }, rank) => {
    const owner = { projectId, keyId };
    const rankInTurn = () => all.run(owner, async () => ({ result: await rank() }), { signal });
    const isLong = words.length > longRankingWords;
    const ranked = await (isLong ? long.run(owner, rankInTurn, { signal }) : rankInTurn());
    if (ranked !== null) return ranked.result;
    throw signal.reason;
  };
}
