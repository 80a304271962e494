import type { Clock } from '../../kernel/clock.ts';

/** The owner of processes: one bundle for one project. */
export interface SlotOwner {
  readonly bundleId: string;
  readonly projectId: string;
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
  /**
   * Acquires the slot of one process. When none is free, it stops the longest idle child: of all children, or of the bundle when
   * the bundle is at its limit. One additional slot is reserved for a project that has no process, because runs may occupy the
   * others for a long time.
   */
  take(owner: SlotOwner): boolean;
  /** Releases the slot of a process that has exited. */
  release(owner: SlotOwner): void;
  /** Reports an idle child, whose slot another pool may need. */
  offer(): void;
  /**
   * Whether a child must exit after its run, because a pool without a child, or of a project with fewer children, has waited too
   * long.
   */
  mustYield(owner: SlotOwner): boolean;
  /** Whether a run may be queued although the queue is full: its project uses less than an equal share. */
  canQueue(owner: SlotOwner): boolean;
}

export interface SlotLimits {
  readonly maxChildren: number;
  /** The limit of one bundle for all projects. It is below the total, so that no bundle can occupy all slots. */
  readonly maxChildrenOfBundle: number;
  readonly queueLength: number;
  readonly clock: Clock;
}

/** Milliseconds that a pool keeps its children although another pool has none. Starting a process takes about 100 ms. */
const maxStarvingMs = 250;

export function createSlots(
  pools: () => Iterable<SlotHolder>,
  { maxChildren, maxChildrenOfBundle, queueLength, clock }: SlotLimits,
): Slots {
  let taken = 0;
  /** The processes of each bundle, for all projects. */
  const takenBy = new Map<string, number>();
  /** The processes of each project, for all bundles. */
  const takenFor = new Map<string, number>();
  /** Processes that were asked to exit for a waiting pool. One at a time, so that no more exit than needed. */
  let ending = 0;
  let isWanted = false;

  const heldFor = (projectId: string): number => takenFor.get(projectId) ?? 0;
  const isFull = (bundleId: string): boolean => (takenBy.get(bundleId) ?? 0) >= maxChildrenOfBundle;

  function count({ bundleId, projectId }: SlotOwner, change: 1 | -1): void {
    taken += change;
    add(takenBy, bundleId, change);
    add(takenFor, projectId, change);
  }

  function mayTake({ bundleId, projectId }: SlotOwner): boolean {
    if (isFull(bundleId)) return false;
    return taken < maxChildren || (taken === maxChildren && !takenFor.has(projectId));
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
    const waiting = [...pools()].filter((pool) => pool.counts().waiting > 0);
    const held = ({ owner }: SlotHolder) => heldFor(owner.projectId);
    waiting.sort((a, b) => held(a) - held(b) || starvingSince(a) - starvingSince(b));
    for (const pool of waiting) pool.startWorkers();
  }

  return {
    take: (owner) => {
      if (mayTake(owner)) {
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
      if (!isWanted || ending > 0) return false;
      const latest = clock.now() - maxStarvingMs;
      const held = heldFor(projectId);
      for (const pool of pools()) {
        const isHelped = pool.owner.bundleId === bundleId || !isFull(pool.owner.bundleId);
        // The difference must be two, so that a process does not alternate between two projects.
        const hasLess = heldFor(pool.owner.projectId) < held - 1;
        if (isHelped && (hasLess ? waitingSince(pool) : starvingSince(pool)) <= latest) ending = 1;
      }
      return ending > 0;
    },
    canQueue: ({ projectId }) => {
      let waiting = 0;
      const waitingFor = new Map([[projectId, 0]]);
      for (const { counts, owner } of pools()) {
        waiting += counts().waiting;
        if (counts().waiting > 0) add(waitingFor, owner.projectId, counts().waiting);
      }
      return waiting < queueLength || (waitingFor.get(projectId) ?? 0) < Math.floor(queueLength / waitingFor.size);
    },
  };
}

function add(counts: Map<string, number>, name: string, change: number): void {
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
