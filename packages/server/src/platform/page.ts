import type { ListQuery } from '@quartermaster/contract';

/** One part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether more items follow in the direction of the request. */
  readonly hasMore: boolean;
  /** The number of items on all pages. Only if the request asked for it. */
  readonly total?: Total;
}

/** The number of items of a list. If it is not exact, the list has at least this many. */
export interface Total {
  readonly count: number;
  readonly isExact: boolean;
}

/** Returns the page of a list without items. */
export function emptyPage({ count = false }: Pick<ListQuery, 'count'>): Page<never> {
  return { items: [], hasMore: false, ...(count ? { total: { count: 0, isExact: true } } : {}) };
}
