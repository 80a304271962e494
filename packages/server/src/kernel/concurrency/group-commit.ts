/** Lets things that are finished at the same time share one expensive step, such as an fsync or a transaction. */
export interface GroupCommit<Item, Result> {
  /** Resolves with this item's result once the group it went with is done; rejects when the group failed. */
  add(item: Item): Promise<Result>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * While one group is being committed the next ones queue up and then go together: a lone item never waits for others,
 * and under load a group is as large as the step is slow. `commit` starts after its items were added and gives one
 * result an item, in their order.
 */
export function createGroupCommit<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  largest: number,
): GroupCommit<Item, Result> {
  const queue: Array<Waiting<Item, Result>> = [];
  let running = false;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      const group = queue.splice(0, largest);
      try {
        const results = await commit(group.map((waiting) => waiting.item));
        if (results.length !== group.length) throw new Error('a group commit must give one result an item');
        for (const [index, waiting] of group.entries()) waiting.resolve(results[index] as Result); // length checked
      } catch (error) {
        for (const waiting of group) waiting.reject(error);
      }
    }
    running = false;
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        if (running) return;
        running = true;
        // One turn later, so that all that finished in this turn of the event loop goes with the first group.
        setImmediate(run);
      }),
  };
}
