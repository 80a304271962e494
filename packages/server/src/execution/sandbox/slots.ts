import type { Clock } from '../../kernel/clock.ts';
import type { Pool } from './pool.ts';

/** The processes and the waiting runs of all bundles together, and whose turn it is. */
export interface Slots {
  /** Takes the place of one process. When there is none, an idle child, the longest idle of all, is ended for it. */
  take(): boolean;
  /** A process is gone. */
  release(): void;
  /** A child has become idle: somebody may want its place. */
  offer(): void;
  /** Whether a child must end after its run, because a bundle without any has waited too long. */
  mustYield(): boolean;
  canQueue(): boolean;
}

/** So long a bundle keeps its children although another has none: a start costs about a tenth of a second. */
const patienceMs = 250;

export function createSlots(
  pools: () => Iterable<Pool>,
  { maxChildren, queueLength, clock }: { maxChildren: number; queueLength: number; clock: Clock },
): Slots {
  let taken = 0;
  /** Processes told to end for somebody who waits: one at a time, so that not more end than needed. */
  let ending = 0;
  let isWanted = false;

  function makeRoom(): void {
    if (ending > 0) return;
    let [oldest, oldestSince] = [undefined as Pool | undefined, Number.POSITIVE_INFINITY];
    for (const pool of pools()) {
      const since = pool.idleSince() ?? Number.POSITIVE_INFINITY;
      if (since < oldestSince) [oldest, oldestSince] = [pool, since];
    }
    if (oldest === undefined) return;
    ending = 1;
    oldest.endLongestIdle();
  }

  /** Those without any child first, by the time they have waited. */
  function wake(): void {
    isWanted = false;
    const waiting = [...pools()].filter((pool) => pool.counts().waiting > 0);
    waiting.sort((a, b) => starvingSince(a) - starvingSince(b));
    for (const pool of waiting) pool.dispatch();
  }

  return {
    take: () => {
      if (taken < maxChildren) {
        taken += 1;
        return true;
      }
      isWanted = true;
      makeRoom();
      return false;
    },
    release: () => {
      taken -= 1;
      ending = 0;
      wake();
    },
    offer: () => {
      if (isWanted) wake();
    },
    mustYield: () => {
      if (!isWanted || ending > 0) return false;
      const latest = clock.now() - patienceMs;
      for (const pool of pools()) if (starvingSince(pool) <= latest) ending = 1;
      return ending > 0;
    },
    canQueue: () => {
      let waiting = 0;
      for (const pool of pools()) waiting += pool.counts().waiting;
      return waiting < queueLength;
    },
  };
}

/** A number beyond every date when the bundle does not starve; two such compare as equal. */
function starvingSince(pool: Pool): number {
  return pool.starvingSince() ?? Number.MAX_SAFE_INTEGER;
}
