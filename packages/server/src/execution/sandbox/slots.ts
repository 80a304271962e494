import type { Clock } from '../../kernel/clock.ts';

/** Whose processes: those of one bundle for one project. */
export interface SlotOwner {
  readonly bundleId: string;
  readonly projectId: string;
}

/** What the slots need of a pool: who owns it, since when it waits or idles, and how it starts and stops workers. */
export interface SlotHolder {
  readonly owner: SlotOwner;
  /** Starts workers for the runs in the queue, as far as there are slots. */
  startWorkers(): void;
  /** Since when runs wait although the pool has no worker at all. Milliseconds since 1970. */
  starvingSince(): number | undefined;
  /** Since when the longest idle worker has been idle. */
  idleSince(): number | undefined;
  stopLongestIdle(): void;
  /** `since`: when the first of the waiting runs was queued. */
  counts(): { readonly children: number; readonly waiting: number; readonly since: number | undefined };
}

/** Counts the processes and waiting runs of all bundles and projects, and decides which run gets the next process. */
export interface Slots {
  /**
   * Takes the place of one process. When there is none, an idle child, the longest idle of all (of the bundle, where the
   * bundle has as many as it may), is ended for it. One process more than there may be is reserved for a project that has
   * none: the others may hold all the rest for as long as their runs take.
   */
  take(owner: SlotOwner): boolean;
  /** A process is gone. */
  release(owner: SlotOwner): void;
  /** A child has become idle: somebody may want its place. */
  offer(): void;
  /** Whether a child must end after its run, because others have waited too long without any, or with fewer for their project. */
  mustYield(owner: SlotOwner): boolean;
  /** When the queue is full, a project with less than an equal share of it may still queue a run. */
  canQueue(owner: SlotOwner): boolean;
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
  pools: () => Iterable<SlotHolder>,
  { maxChildren, maxChildrenOfBundle, queueLength, clock }: SlotLimits,
): Slots {
  let taken = 0;
  /** Of each bundle, for all projects together. */
  const takenBy = new Map<string, number>();
  /** Of each project, for all bundles together. */
  const takenFor = new Map<string, number>();
  /** Processes told to end for somebody who waits: one at a time, so that not more end than needed. */
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

  function makeRoom(bundleId: string): void {
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

  /** Those of the projects with the fewest processes first, then those without any, by the time they have waited. */
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
      makeRoom(owner.bundleId);
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
      const latest = clock.now() - patienceMs;
      const held = heldFor(projectId);
      for (const pool of pools()) {
        const isHelped = pool.owner.bundleId === bundleId || !isFull(pool.owner.bundleId);
        // Two more, so that a process does not alternate between two projects.
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
  const left = (counts.get(name) ?? 0) + change;
  if (left === 0) counts.delete(name);
  else counts.set(name, left);
}

/** A number beyond every date when the bundle does not starve; two such compare as equal. */
function starvingSince(pool: SlotHolder): number {
  return pool.starvingSince() ?? Number.MAX_SAFE_INTEGER;
}

function waitingSince(pool: SlotHolder): number {
  return pool.counts().since ?? Number.MAX_SAFE_INTEGER;
}
