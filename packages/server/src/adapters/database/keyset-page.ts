import type { ListQuery } from '@quartermaster/contract';

/** Which rows one page takes: ids between the bounds, in this direction, at most `limit`. */
export interface KeysetWindow {
  readonly bounds: ReadonlyArray<{ readonly compare: '<' | '>'; readonly id: string }>;
  readonly direction: 'asc' | 'desc';
  readonly limit: number;
}

/**
 * One page of a list that is ordered by id, which is the order of creation. `after` gives the page that follows it,
 * `before` the page that ends just ahead of it, both in the order asked for; together they bound the page on both sides.
 * `hasMore` refers to the direction of the page. The caller checks that the cursors exist. A page that was cut by its
 * weight gives the number of rows before the cut in `found`.
 */
export async function readKeysetPage<Row extends object>(
  query: ListQuery,
  read: (window: KeysetWindow) => Promise<Row[]>,
) {
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
  return { items: backwards ? items.reverse() : items, hasMore };
}

/** The cursors of a query: each must be the id of something in the list. */
export function cursorsOf(query: ListQuery): string[] {
  return [query.after, query.before].filter((cursor) => cursor !== undefined);
}
