import { type AliasedExpression, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** A page ends with the row that reaches this weight: parsing and writing it holds the event loop for some 30 ms. */
export const mostPageWeight = 8 * 1024 * 1024;
/** A byte of JSON, which is parsed and written again, costs as much as this many bytes of text. */
const jsonWeight = 4;

/** The weight of a row, computed without reading its columns. */
export function weightOf({ texts = [], json = [] }: { texts?: readonly string[]; json?: readonly string[] }) {
  const bytes = (column: string): RawBuilder<number> => sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`;
  const parts = [...texts.map(bytes), ...json.map((column) => sql<number>`${jsonWeight} * ${bytes(column)}`)];
  return sql<number>`${sql.join(parts, sql` + `)}`.as('weight');
}

/**
 * The rows of a page with what those before them weigh (`before`) and how many rows there are (`found`). One row is always
 * taken, whatever it weighs.
 */
export function weighed(
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
    .as('weighed');
}
