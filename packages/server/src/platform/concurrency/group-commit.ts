/** Combines items that arrive at the same time into one expensive step, such as an fsync or a transaction. */
export interface GroupCommit<Item, Result> {
  /** Resolves with the result of this item when its group is committed. Rejects when the group fails. */
  add(item: Item): Promise<Result>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * While one group is committed, new items queue up and form the next group. So a single item never waits for others, and groups
 * grow with the duration of a commit. `commit` starts after its items were added and returns one result for each, in order.
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
        // Starts after the current turn of the event loop, so that all its items join the first group.
        setImmediate(run);
      }),
  };
}
