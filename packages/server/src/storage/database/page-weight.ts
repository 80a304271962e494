import { type AliasedExpression, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './tables.ts';

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
