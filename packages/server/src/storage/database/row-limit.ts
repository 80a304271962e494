import { maxCounted } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import type { Total } from '../../platform/page.ts';
import type { Database } from './database.ts';
import { assertNotDeleted } from './deleted-projects.ts';
import type { Tables } from './tables.ts';

/**
 * Locks a project until the transaction ends, so that two requests cannot both take the last row below a limit. SQLite
 * runs one write transaction at a time anyway.
 * @throws Problem OBJECT_NOT_FOUND for a project that is being deleted or was deleted
 */
export async function lockProject(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  projectId: string,
): Promise<void> {
  const project = transaction.selectFrom('project').select('id').where('id', '=', projectId);
  if (dialect === 'postgres') await project.forNoKeyUpdate().execute();
  await assertNotDeleted(transaction, dialect, projectId);
}

/**
 * Returns whether a query finds at least `most` rows. It reads at most that many rows, from one index.
 * @param most at least 1
 */
export async function areAtLeast<Table extends keyof Tables>(
  rows: SelectQueryBuilder<Tables, Table, object>,
  most: number,
): Promise<boolean> {
  return (
    (await rows
      .offset(most - 1)
      .limit(1)
      .executeTakeFirst()) !== undefined
  );
}

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

/**
 * Wraps a column in a condition so that no index is used for it. SQLite has no statistics here and would choose the
 * index whose first column is compared for equality. It would then scan a whole collection, where the primary key finds
 * a few rows. PostgreSQL knows how selective each condition is.
 */
export function withoutIndex<Value>(dialect: Database['dialect'], column: string): RawBuilder<Value> {
  const reference = sql.ref<Value>(column);
  return dialect === 'sqlite' ? sql<Value>`+${reference}` : sql<Value>`${reference}`;
}
