import type { Clock } from '../../kernel/clock.ts';
import type { Pool } from './pool.ts';

/** The processes and the waiting runs of all bundles together, and whose turn it is. */
export interface Slots {
  /**
   * Takes the place of one process. When there is none, an idle child, the longest idle of all (of the bundle, where the
   * bundle has as many as it may), is ended for it.
   */
  take(bundleId: string): boolean;
  /** A process is gone. */
  release(bundleId: string): void;
  /** A child has become idle: somebody may want its place. */
  offer(): void;
  /** Whether a child of the bundle must end after its run, because others have waited too long without any. */
  mustYield(bundleId: string): boolean;
  canQueue(): boolean;
}

export interface SlotLimits {
  readonly maxChildren: number;
  /** Of one bundle for all projects: fewer than all, so that no bundle takes them all. */
  readonly maxChildrenOfBundle: number;
  readonly queueLength: number;
  readonly clock: Clock;
}

/** So long a pool keeps its children although another has none: a start costs about a tenth of a second. */
const patienceMs = 250;

export function createSlots(
  pools: () => Iterable<Pool>,
  { maxChildren, maxChildrenOfBundle, queueLength, clock }: SlotLimits,
): Slots {
  let taken = 0;
  /** Of each bundle, for all projects together. */
  const takenBy = new Map<string, number>();
  /** Processes told to end for somebody who waits: one at a time, so that not more end than needed. */
  let ending = 0;
  let isWanted = false;

  const isFull = (bundleId: string): boolean => (takenBy.get(bundleId) ?? 0) >= maxChildrenOfBundle;

  function count(bundleId: string, change: 1 | -1): void {
    taken += change;
    const left = (takenBy.get(bundleId) ?? 0) + change;
    if (left === 0) takenBy.delete(bundleId);
    else takenBy.set(bundleId, left);
  }

  function makeRoom(bundleId: string): void {
    if (ending > 0) return;
    let [oldest, oldestSince] = [undefined as Pool | undefined, Number.POSITIVE_INFINITY];
    for (const pool of pools()) {
      if (isFull(bundleId) && pool.bundleId !== bundleId) continue;
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
    take: (bundleId) => {
      if (taken < maxChildren && !isFull(bundleId)) {
        count(bundleId, 1);
        return true;
      }
      isWanted = true;
      makeRoom(bundleId);
      return false;
    },
    release: (bundleId) => {
      count(bundleId, -1);
      ending = 0;
      wake();
    },
    offer: () => {
      if (isWanted) wake();
    },
    mustYield: (bundleId) => {
      if (!isWanted || ending > 0) return false;
      const latest = clock.now() - patienceMs;
      for (const pool of pools()) {
        const isHelped = pool.bundleId === bundleId || !isFull(pool.bundleId);
        if (isHelped && starvingSince(pool) <= latest) ending = 1;
      }
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
