import type { ListQuery } from '@quartermaster/contract';
import { type AliasedExpression, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Page, Total } from '../../platform/page.ts';
import type { Tables } from './tables.ts';

/** Selects the rows of one page: ids between the bounds, in this direction, at most `limit`. */
export interface KeysetWindow {
  readonly bounds: ReadonlyArray<{ readonly compare: '<' | '>'; readonly id: string }>;
  readonly direction: 'asc' | 'desc';
  readonly limit: number;
}

/** Selects the rows of one page from all rows of a list. @param id the column by which the list is ordered */
export function rowsWithin<DB, Table extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, Table, Row>,
  { bounds, direction, limit }: KeysetWindow,
  id = 'id',
): SelectQueryBuilder<DB, Table, Row> {
  let page = rows;
  for (const bound of bounds) page = page.where(sql.ref<string>(id), bound.compare, bound.id);
  return page.orderBy(sql.ref(id), direction).limit(limit);
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

/**
 * A page ends with the row that reaches this weight. Parsing and writing the page blocks the event loop for about 30
 * ms.
 */
export const maxPageWeight = 8 * 1024 * 1024;
/** A byte of JSON, which is parsed and serialized again, costs as much as this many bytes of text. */
const jsonWeight = 4;

/** The weight of a row as SQL, computed without reading the column values. */
export function rowWeight({ texts = [], json = [] }: { texts?: readonly string[]; json?: readonly string[] }) {
  const bytes = (column: string): RawBuilder<number> => sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`;
  const parts = [...texts.map(bytes), ...json.map((column) => sql<number>`${jsonWeight} * ${bytes(column)}`)];
  return sql<number>`${sql.join(parts, sql` + `)}`.as('weight');
}

/**
 * Selects the rows of a page, the total weight of the rows before each (`before`), and the number of rows (`found`).
 * A page has at least one row, whatever its weight.
 */
export function withWeightBefore(
  db: Kysely<Tables>,
  page: AliasedExpression<{ id: string; weight: number }, 'page'>,
  direction: 'asc' | 'desc',
) {
  const order = sql.raw(direction);
  return db
    .selectFrom(page)
    .select([
      'page.id',
      sql<number>`sum(weight) over (order by id ${order} rows unbounded preceding) - weight`.as('before'),
      sql<number | string>`count(*) over ()`.as('found'),
    ])
    .as('page_rows');
}
