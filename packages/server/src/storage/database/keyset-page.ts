import type { ListQuery } from '@quartermaster/contract';
import type { Page, Total } from '../../platform/page.ts';

/** Selects the rows of one page: ids between the bounds, in this direction, at most `limit`. */
export interface KeysetWindow {
  readonly bounds: ReadonlyArray<{ readonly compare: '<' | '>'; readonly id: string }>;
  readonly direction: 'asc' | 'desc';
  readonly limit: number;
}

/**
 * Reads one page of a list that is ordered by id, which is the order of creation. `after` returns the page that follows
 * it and `before` the page that ends directly before it, both in the requested order. Together they bound the page on
 * both sides. `hasMore` refers to the direction of the page. A cursor is a place, so its row need not exist (`checkCursors`). When the weight
 * limit cuts a page, `found` is the number of rows before the cut. `countAll` is called if the query asks for the number
 * of all items and the page does not have all of them. It is null if the caller adds the number.
 */
export async function readKeysetPage<Row extends object>(
  query: ListQuery,
  read: (window: KeysetWindow) => Promise<Row[]>,
  countAll: (() => Promise<Total>) | null,
): Promise<Page<Row>> {
  const order = query.order ?? 'desc';
  const limit = query.limit ?? 20;
  const backwards = query.before !== undefined && query.after === undefined;
  const forwardCompare = order === 'asc' ? '>' : '<';
  const backwardCompare = order === 'asc' ? '<' : '>';
  const bounds: Array<KeysetWindow['bounds'][number]> = [];
  if (query.after !== undefined) bounds.push({ compare: forwardCompare, id: query.after });
  if (query.before !== undefined) bounds.push({ compare: backwardCompare, id: query.before });
  const direction = backwards ? (order === 'asc' ? 'desc' : 'asc') : order;
  const rows = await read({ bounds, direction, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const [first] = rows;
  const found = first !== undefined && 'found' in first ? Number(first.found) : 0;
  const hasMore = rows.length > limit || rows.length < found;
  const page = { items: backwards ? items.reverse() : items, hasMore };
  if (query.count !== true || countAll === null) return page;
  const hasAll = bounds.length === 0 && !hasMore;
  return { ...page, total: hasAll ? { count: items.length, isExact: true } : await countAll() };
}
