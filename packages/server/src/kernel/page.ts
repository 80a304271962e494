/** One part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether there is more in the direction travelled. */
  readonly hasMore: boolean;
}
