import type { Owner } from '../../../platform/admission/owner.ts';
import type { RunEnded } from './run.ts';
import type { QueueEntry, RunQueue } from './run-queue.ts';
import type { SlotOwner, Slots } from './slots.ts';
import type { PendingRun, Worker } from './worker.ts';
import type { WorkerSet } from './worker-set.ts';

/** Shares the processes of one pool among the keys of its project. */
export interface KeyShares {
  /** Describes a run that waits for a worker. */
  entryOf(pending: PendingRun): Omit<QueueEntry<Worker>, 'limitMs'>;
  /**
   * Assigns a run to a worker. A key that runs something in the pool cannot use more than `maxChildren` processes together with
   * the other keys, so one more process remains for a key that runs nothing.
   */
  assign(worker: Worker, pending: PendingRun): boolean;
  /** Ends an assigned run. */
  release(worker: Worker, pending: PendingRun, ended: RunEnded): void;
  /** Whether the pool may start a process for the next run. */
  mayStart(
    workers: Pick<WorkerSet, 'size' | 'starting'>,
    queue: Pick<RunQueue<Worker>, 'length' | 'nextOwner'>,
  ): boolean;
}

export function createKeyShares(pool: SlotOwner, slots: Slots, maxChildren: number): KeyShares {
  const { projectId } = pool;
  const runs = slots.openRuns(pool);
  /** Processes of this pool that have a run. */
  let busy = 0;

  function ownerOf({ assignment: { task } }: PendingRun): Owner {
    return { projectId, keyId: task.keyId ?? null };
  }

  function assign(worker: Worker, pending: PendingRun): boolean {
    const owner = ownerOf(pending);
    const isIdle = worker.depth() === 0;
    const exceedsPool = runs.of(owner).key > 0 && busy + (isIdle ? 1 : 0) > maxChildren;
    if (exceedsPool || !slots.mayBegin(owner, isIdle) || !worker.assign(pending)) return false;
    runs.add(owner, 1);
    if (isIdle) busy += 1;
    slots.begin(owner, isIdle);
    return true;
  }

  return {
    entryOf: (pending) => {
      const { assignment, isRequeued } = pending;
      return {
        owner: ownerOf(pending),
        signal: assignment.signal,
        isRequeued,
        accept: (worker) => assign(worker, pending),
      };
    },
    assign,
    release: (worker, pending, ended) => {
      const owner = ownerOf(pending);
      worker.release(pending, ended);
      const isIdle = worker.depth() === 0;
      runs.add(owner, -1);
      if (isIdle) busy -= 1;
      slots.end(owner, isIdle);
    },
    mayStart: (workers, queue) => {
      if (workers.starting() >= queue.length()) return false;
      const next = queue.nextOwner();
      const isKept = busy >= maxChildren && next !== undefined && runs.of(next).key === 0;
      return workers.size() < maxChildren + (isKept ? 1 : 0);
    },
  };
}
