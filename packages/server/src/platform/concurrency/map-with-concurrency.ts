/**
 * Maps a list with at most `concurrency` concurrent calls. Returns the results in the order of the list. Rejects with the first
 * failure.
 */
export async function mapWithConcurrency<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const remaining = items.entries();
  const worker = async () => {
    for (const [index, item] of remaining) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
