import type { SelectQueryBuilder, Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * Locks a project until the transaction ends, so that two requests cannot both take the last row below a limit. SQLite
 * runs one write transaction at a time anyway.
 */
export async function lockProject(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  projectId: string,
): Promise<void> {
  if (dialect === 'sqlite') return;
  await transaction.selectFrom('project').select('id').where('id', '=', projectId).forNoKeyUpdate().execute();
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
