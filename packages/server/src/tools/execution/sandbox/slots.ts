import type { Admission } from '../../../platform/admission/admission.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { ShareCounts, Shares } from '../../../platform/admission/share-counts.ts';
import type { Clock } from '../../../platform/clock.ts';
import { createWaitingRuns, type WaitingRuns } from './waiting-runs.ts';

/** The owner of processes: one bundle for one project. */
export interface SlotOwner {
  readonly bundleId: string;
  readonly projectId: string | null;
}

/**
 * The parts of a pool that the slots need: its owner, the start of its wait or idle time, and how it starts and stops
 * workers.
 */
export interface SlotHolder {
  readonly owner: SlotOwner;
  /** Starts workers for the queued runs while slots are free. */
  startWorkers(): void;
  /** The time since which runs have waited in a pool without a worker, in milliseconds since 1970. */
  starvingSince(): number | undefined;
  /** The time since which the longest idle worker has been idle. */
  idleSince(): number | undefined;
  stopLongestIdle(): void;
  /** `since` is when the first waiting run was queued. */
  counts(): { readonly children: number; readonly waiting: number; readonly since: number | undefined };
}

/** Counts the processes and waiting runs of all bundles and projects, and decides which run gets the next process. */
export interface Slots {
  readonly waiting: WaitingRuns;
  /**
   * Acquires the slot of one process. When none is free, it stops the longest idle child: of all children, or of the bundle when
   * the bundle is at its limit. Runs may occupy the slots for a long time, so one additional slot, of all bundles and of each
   * bundle, is kept for a key that runs nothing, and one for a project that has no process.
   * @param next the owner of the run that waits for the process
   */
  take(owner: SlotOwner, next: Owner | undefined): boolean;
  /** Releases the slot of a process that has exited. */
  release(owner: SlotOwner): void;
  /** Reports an idle child, whose slot another pool may need. */
  offer(): void;
  /**
   * Whether a child must exit after its run, because its bundle has a child too many, or because a pool without a child, or of a
   * project with fewer children, has waited too long.
   */
  mustYield(owner: SlotOwner): boolean;
  /** Opens the counts of the runs of one pool. */
  openRuns(owner: SlotOwner): ShareCounts;
  /** The runs in progress of an owner. */
  held(owner: Owner): Shares;
  /** Counts a run that was assigned to a process, and the process too if it had no run. */
  begin(owner: Owner, wasIdle: boolean): void;
  end(owner: Owner, isIdle: boolean): void;
  /**
   * Whether a run may start. Further runs of a key never occupy the processes in the kept slots, so that these are free for keys
   * that run nothing.
   */
  mayBegin(owner: Owner, isIdle: boolean): boolean;
}

export interface SlotLimits {
  readonly maxChildren: number;
  /** The limit of one bundle for all projects. It is below the total, so that no bundle can occupy all slots. */
  readonly maxChildrenOfBundle: number;
  readonly queueLength: number;
  readonly clock: Clock;
  /** Counts the runs and the waiting runs as the queue `plugin_processes`. */
  readonly admission: Admission;
}

/** Milliseconds that a pool keeps its children although another pool has none. Starting a process takes about 100 ms. */
const maxStarvingMs = 250;

export function createSlots(
  pools: () => Iterable<SlotHolder>,
  { maxChildren, maxChildrenOfBundle, queueLength, clock, admission }: SlotLimits,
): Slots {
  const waiting = createWaitingRuns(queueLength);
  const counts = admission.pool('plugin_processes', waiting.size);
  const runs = createRunCounts(counts.running, maxChildren, () => {
    isWanted = true;
  });
  let taken = 0;
  /** The processes of each bundle, for all projects. */
  const takenBy = new Map<string, number>();
  /** The processes of each project, for all bundles. */
  const takenFor = new Map<string | null, number>();
  /** Processes that were asked to exit for a waiting pool. One at a time, so that no more exit than needed. */
  let ending = 0;
  let isWanted = false;

  const heldFor = (projectId: string | null): number => takenFor.get(projectId) ?? 0;
  const isFull = (bundleId: string): boolean => (takenBy.get(bundleId) ?? 0) >= maxChildrenOfBundle;

  function count({ bundleId, projectId }: SlotOwner, change: 1 | -1): void {
    taken += change;
    add(takenBy, bundleId, change);
    add(takenFor, projectId, change);
  }

  function mayTake({ bundleId, projectId }: SlotOwner, next: Owner | undefined): boolean {
    const isFirst = !takenFor.has(projectId);
    const isFirstOfKey = !isFirst && next !== undefined && runs.held(next).key === 0;
    if ((takenBy.get(bundleId) ?? 0) >= maxChildrenOfBundle + (isFirst || isFirstOfKey ? 1 : 0)) return false;
    if (taken < maxChildren) return true;
    if (isFirst) return taken <= maxChildren + 1;
    return isFirstOfKey && runs.busy() >= maxChildren && taken === maxChildren;
  }

  function freePlace(bundleId: string): void {
    if (ending > 0) return;
    let [oldest, oldestSince] = [undefined as SlotHolder | undefined, Number.POSITIVE_INFINITY];
    for (const pool of pools()) {
      if (isFull(bundleId) && pool.owner.bundleId !== bundleId) continue;
      const since = pool.idleSince() ?? Number.POSITIVE_INFINITY;
      if (since < oldestSince) [oldest, oldestSince] = [pool, since];
    }
    if (oldest === undefined) return;
    ending = 1;
    oldest.stopLongestIdle();
  }

  /**
   * Starts workers for waiting pools. Projects with the fewest processes come first, then pools without a process, then the longest
   * waiting.
   */
  function wake(): void {
    isWanted = false;
    const starved = [...pools()].filter((pool) => pool.counts().waiting > 0);
    const held = ({ owner }: SlotHolder) => heldFor(owner.projectId);
    starved.sort((a, b) => held(a) - held(b) || starvingSince(a) - starvingSince(b));
    for (const pool of starved) pool.startWorkers();
  }

  return {
    waiting: { ...waiting, countRefused: counts.countRefused },
    openRuns: ({ bundleId, projectId }) => counts.openPart(`${bundleId} ${projectId}`),
    take: (owner, next) => {
      if (mayTake(owner, next)) {
        count(owner, 1);
        return true;
      }
      isWanted = true;
      freePlace(owner.bundleId);
      return false;
    },
    release: (owner) => {
      count(owner, -1);
      ending = 0;
      wake();
    },
    offer: () => {
      if (isWanted) wake();
    },
    mustYield: ({ bundleId, projectId }) => {
      if (ending > 0) return false;
      const held = heldFor(projectId);
      // The process in the kept slot of the bundle ends after its run, so that the slot is free for the next project.
      if (held === 1 && (takenBy.get(bundleId) ?? 0) > maxChildrenOfBundle) ending = 1;
      if (ending > 0 || !isWanted) return ending > 0;
      const latest = clock.now() - maxStarvingMs;
      for (const pool of pools()) {
        const isHelped = pool.owner.bundleId === bundleId || !isFull(pool.owner.bundleId);
        // The difference must be two, so that a process does not alternate between two projects.
        const hasLess = heldFor(pool.owner.projectId) < held - 1;
        if (isHelped && (hasLess ? waitingSince(pool) : starvingSince(pool)) <= latest) ending = 1;
      }
      return ending > 0;
    },
    ...runs,
  };
}

type RunCounts = Pick<Slots, 'held' | 'begin' | 'end' | 'mayBegin'>;

function createRunCounts(
  runs: ShareCounts,
  maxChildren: number,
  onRefused: () => void,
): RunCounts & { readonly busy: () => number } {
  /** Processes that have a run. */
  let busy = 0;
  return {
    busy: () => busy,
    held: runs.of,
    begin: (owner, wasIdle) => {
      runs.add(owner, 1);
      if (wasIdle) busy += 1;
    },
    end: (owner, isIdle) => {
      runs.add(owner, -1);
      if (isIdle) busy -= 1;
    },
    mayBegin: (owner, isIdle) => {
      const may = runs.of(owner).key === 0 || busy + (isIdle ? 1 : 0) <= maxChildren;
      if (!may) onRefused();
      return may;
    },
  };
}

function add<Key>(counts: Map<Key, number>, name: Key, change: number): void {
  const remaining = (counts.get(name) ?? 0) + change;
  if (remaining === 0) counts.delete(name);
  else counts.set(name, remaining);
}

/** For a pool that never starves this is a number after every date, so that two such pools compare as equal. */
function starvingSince(pool: SlotHolder): number {
  return pool.starvingSince() ?? Number.MAX_SAFE_INTEGER;
}

function waitingSince(pool: SlotHolder): number {
  return pool.counts().since ?? Number.MAX_SAFE_INTEGER;
}
