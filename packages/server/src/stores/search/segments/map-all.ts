/** Thrown by a store that does not have a page or header at hand. The caller gets it and repeats the question. */
export class NotAtHand extends Error {
  override readonly name = 'NotAtHand';
  constructor() {
    super('a page of a segment is not at hand');
  }
}

/** Maps all items also when pages of some are not at hand, so that the store learns of all of them. */
export function mapAll<Item, Result>(items: readonly Item[], map: (item: Item, place: number) => Result): Result[] {
  const results: Result[] = [];
  let missing: NotAtHand | undefined;
  for (const [place, item] of items.entries()) {
    try {
      results.push(map(item, place));
    } catch (error) {
      if (!(error instanceof NotAtHand)) throw error;
      missing = error;
    }
  }
  if (missing !== undefined) throw missing;
  return results;
}
