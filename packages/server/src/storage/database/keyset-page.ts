import type { ListQuery } from '@quartermaster/contract';
import { type AliasedExpression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Page, Total } from '../../platform/page.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** Selects the rows of one page: ids between the bounds, in this direction, at most `limit`. */
export interface KeysetWindow {
  readonly bounds: ReadonlyArray<{ readonly compare: '<' | '>'; readonly id: string }>;
  readonly direction: 'asc' | 'desc';
  readonly limit: number;
}

/** The rows of a list that belong together, such as those of a project. An index starts with these columns and ends with the id. */
export interface Owned {
  readonly dialect: Database['dialect'];
  /** The value of each column. */
  readonly by: Readonly<Record<string, string>>;
}

/**
 * Selects the rows of one page from all rows of a list. If a list is owned, `rows` does not name the owner.
 * @param id the column by which the list is ordered
 */
export function rowsWithin<DB, Table extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, Table, Row>,
  { bounds, direction, limit }: KeysetWindow,
  { id = 'id', owned }: { readonly id?: string; readonly owned?: Owned | undefined } = {},
): SelectQueryBuilder<DB, Table, Row> {
  const isRange = owned?.dialect === 'postgres';
  let page = owned === undefined ? rows : rows.where(isRange ? withinRange(owned) : isOwned(owned));
  for (const bound of bounds) {
    page = isRange
      ? page.where(comparePlace(bound.compare, { ...owned.by, [id]: bound.id }))
      : page.where(sql.ref<string>(id), bound.compare, bound.id);
  }
  for (const column of isRange ? Object.keys(owned.by) : []) page = page.orderBy(sql.ref(column), direction);
  return page.orderBy(sql.ref(id), direction).limit(limit);
}

/** Selects the rows of a list that `rowsWithin` reads in pages. */
export function isOwned({ by }: Owned): RawBuilder<boolean> {
  return sql`${sql.join(
    Object.entries(by).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    sql` and `,
  )}`;
}

/**
 * Selects the same rows. With "=", PostgreSQL may read the rows of all owners by their id until a page is full, because it expects
 * those of a large owner early. Only the index that starts with the owner has the order of a range.
 */
function withinRange({ by }: Owned): RawBuilder<boolean> {
  return sql`${comparePlace('>=', by)} and ${comparePlace('<=', by)}`;
}

function comparePlace(compare: string, place: Readonly<Record<string, string>>): RawBuilder<boolean> {
  const columns = sql.join(Object.keys(place).map((column) => sql.ref(column)));
  return sql`(${columns}) ${sql.raw(compare)} (${sql.join(Object.values(place))})`;
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
const maxPageWeight = 8 * 1024 * 1024;
/** A byte of JSON, which is parsed and serialized again, costs as much as this many bytes of text. */
const jsonWeight = 4;

/** The weight of a row as SQL, computed without reading the column values. */
export function rowWeight({ texts = [], json = [] }: { texts?: readonly string[]; json?: readonly string[] }) {
  const bytes = (column: string): RawBuilder<number> => sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`;
  const parts = [...texts.map(bytes), ...json.map((column) => sql<number>`${jsonWeight} * ${bytes(column)}`)];
  return sql<number>`${sql.join(parts, sql` + `)}`.as('weight');
}

/** A list whose rows may be heavy. */
export interface WeighedList {
  readonly table: 'collection' | 'record' | 'chunk';
  readonly columns: readonly string[];
  readonly weight: ReturnType<typeof rowWeight>;
  /** Short values of joined tables. */
  readonly joined?: ReadonlyArray<AliasedExpression<unknown, string>>;
  /** A condition with which SQLite finds a row by its id in an index. Default: the id is the primary key. */
  readonly within?: RawBuilder<boolean>;
  readonly owned: Owned;
}

/**
 * Reads the rows of a page with their number, `found`, up to the row that reaches the maximum weight. In SQLite a window
 * function would copy the long texts of all rows, so the page has only ids, and the rows are read by them.
 * @param rows selects the rows of the list
 */
export async function readWeighedPage<Row, Table extends keyof Tables>(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  rows: SelectQueryBuilder<Tables, Table, object>,
  { table, columns, weight, joined = [], within, owned, window }: WeighedList & { readonly window: KeysetWindow },
): Promise<Array<Row & { readonly found: number }>> {
  const names = columns.map((column) => `${table}.${column}`);
  const selected = dialect === 'sqlite' ? [`${table}.id`] : names;
  const page = rowsWithin(
    rows
      .clearSelect()
      .select([...selected.map((name) => sql.ref(name).as(name.slice(table.length + 1))), ...joined, weight]),
    window,
    { id: `${table}.id`, owned },
  );
  const order = sql.raw(window.direction);
  const weighed = sql`select page.*, count(*) over () as found,
    sum(weight) over (order by id ${order} rows unbounded preceding) - weight as before from (${page}) as page`;
  const { rows: found } =
    dialect === 'sqlite'
      ? // With an inner join, SQLite may walk all chunks of a collection and look for each of them in the page.
        await sql<Row & { found: number }>`select page_rows.*, ${sql.join(names.map((name) => sql.ref(name)))}
          from (${weighed}) as page_rows cross join ${sql.table(table)}
          where page_rows.before < ${maxPageWeight} and ${sql.ref(`${table}.id`)} = page_rows.id
            and ${within ?? sql`true`} order by ${sql.ref(`${table}.id`)} ${order}`.execute(read)
      : await sql<Row & { found: number }>`select * from (${weighed}) as page_rows
          where before < ${maxPageWeight} order by id ${order}`.execute(read);
  return found;
}
