import type { PeriodicTask } from '../concurrency/periodic-task.ts';

/** The running nodes of the store, by the address that they serve. */
export type NodeCounts = Readonly<Record<'files' | 'plugins', number>>;

const pauseMs = 5_000;

export interface NodeCounter {
  /** At least 1. Until the task has counted, this process counts as the only node. */
  count(address: keyof NodeCounts): number;
  /** Counts the nodes from time to time. */
  task(read: () => Promise<NodeCounts>): PeriodicTask;
}

/** Knows how many nodes share the limits of the store. */
export function createNodeCounter(): NodeCounter {
  let counts: NodeCounts = { files: 1, plugins: 1 };
  return {
    count: (address) => Math.max(1, counts[address]),
    task: (read) => ({
      name: 'count nodes',
      pause: pauseMs,
      run: async () => {
        counts = await read();
      },
    }),
  };
}
