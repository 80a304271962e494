import { createFairOrder } from '../../../platform/admission/admission-queue.ts';
import type { Owner } from '../../../platform/admission/owner.ts';

/** A waiting run that a full queue may refuse. */
export interface WaitingRun extends Owner {
  readonly refuse: () => void;
}

/** The waiting runs of all pools. */
export interface WaitingRuns {
  size(): number;
  add(run: WaitingRun): void;
  remove(run: WaitingRun): void;
  /** When too many runs wait in total, refuses one: the newest run of the project with the most waiting runs, and of its key with the most. */
  refuseExcess(arriving: WaitingRun): void;
  countRefused(): void;
}

export function createWaitingRuns(queueLength: number): Omit<WaitingRuns, 'countRefused'> {
  const runs = createFairOrder<WaitingRun>((run) => run);
  return {
    size: runs.size,
    add: runs.add,
    remove: runs.remove,
    refuseExcess: (arriving) => {
      if (runs.size() > queueLength) runs.newestOfLargest(arriving, () => true)?.refuse();
    },
  };
}
