/** One part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether more items follow in the direction of the request. */
  readonly hasMore: boolean;
}
