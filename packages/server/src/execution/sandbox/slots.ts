import type { Clock } from '../../kernel/clock.ts';
import type { Pool } from './pool.ts';

/** The processes and the waiting runs of all bundles together, and whose turn it is. */
export interface Slots {
  /** Takes the place of one process. When there is none, an idle child of another bundle is asked to make room. */
  take(): boolean;
  /** A process is gone. */
  release(): void;
  /** Whether a bundle without any child has waited so long that the next child to become free ends for it. */
  isSomebodyStarving(): boolean;
  canQueue(): boolean;
}

/** So long a bundle keeps its children although another has none: a start costs about a tenth of a second. */
const patienceMs = 250;

export function createSlots(
  pools: () => Iterable<Pool>,
  { maxChildren, queueLength, clock }: { maxChildren: number; queueLength: number; clock: Clock },
): Slots {
  let taken = 0;

  function makeRoom(): void {
    let oldest: Pool | undefined;
    for (const pool of pools()) {
      const since = pool.idleSince();
      if (since !== undefined && since < (oldest?.idleSince() ?? Number.POSITIVE_INFINITY)) oldest = pool;
    }
    oldest?.endLongestIdle();
  }

  return {
    take: () => {
      if (taken >= maxChildren) {
        makeRoom();
        return false;
      }
      taken += 1;
      return true;
    },
    release: () => {
      taken -= 1;
      const byWait = [...pools()].filter((pool) => pool.counts().waiting > 0);
      byWait.sort((a, b) => (a.starvingSince() ?? Infinity) - (b.starvingSince() ?? Infinity));
      for (const pool of byWait) pool.dispatch();
    },
    isSomebodyStarving: () => {
      if (taken < maxChildren) return false;
      const latest = clock.now() - patienceMs;
      for (const pool of pools()) if ((pool.starvingSince() ?? Infinity) <= latest) return true;
      return false;
    },
    canQueue: () => {
      let waiting = 0;
      for (const pool of pools()) waiting += pool.counts().waiting;
      return waiting < queueLength;
    },
  };
}
