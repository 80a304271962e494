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
  const selected: Item[] = [];
  let remaining = maxTokens;
  for (const item of items) {
    if (selected.length === maxItems) break;
    if (item.numTokens > remaining) continue;
    selected.push(item);
    remaining -= item.numTokens;
  }
  return selected;
}
