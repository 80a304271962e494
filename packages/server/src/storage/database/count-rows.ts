import { maxCounted } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Total } from '../../platform/page.ts';
import type { Tables } from './tables.ts';

/**
 * Counts the rows that meet the conditions. It reads at most `maxCounted + 1` rows, so its cost does not grow with the
 * store.
 * @param rows selects the rows that are read. An index must cover its conditions.
 * @param conditions are checked on each row that is read
 */
export async function countRows<Table extends keyof Tables>(
  read: Kysely<Tables>,
  rows: SelectQueryBuilder<Tables, Table, object>,
  conditions: ReadonlyArray<RawBuilder<boolean>> = [],
): Promise<Total> {
  const matches =
    conditions.length === 0 ? sql.lit(1) : sql<number>`case when ${sql.join(conditions, sql` and `)} then 1 else 0 end`;
  const counted = rows
    .clearSelect()
    .select(sql<number>`${matches}`.as('matches'))
    .limit(maxCounted + 1)
    .as('counted');
  const row = await read
    .selectFrom(counted)
    .select([sql<number>`count(*)`.as('rows'), sql<number>`coalesce(sum(matches), 0)`.as('found')])
    .executeTakeFirstOrThrow();
  return { count: Math.min(Number(row.found), maxCounted), isExact: Number(row.rows) <= maxCounted };
}
