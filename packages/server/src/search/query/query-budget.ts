export interface Budget {
  readonly maxItems: number;
  /** The limit for all items together. */
  readonly maxTokens: number;
}

/**
 * Takes items in their order while they fit. An item that exceeds the remaining budget is skipped; smaller items after
 * it may still be taken.
 */
export function fillBudget<Item extends { readonly numTokens: number }>(
  items: readonly Item[],
  { maxItems, maxTokens }: Budget,
): Item[] {
  const taken: Item[] = [];
  let left = maxTokens;
  for (const item of items) {
    if (taken.length === maxItems) break;
    if (item.numTokens > left) continue;
    taken.push(item);
    left -= item.numTokens;
  }
  return taken;
}
