import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * A column in a condition that no index may serve. SQLite keeps no statistics of ours: given the choice it takes the index
 * whose first column is compared for equality and walks a whole collection, where the primary key finds a few rows.
 * PostgreSQL knows how selective each condition is.
 */
export function withoutIndex<Value>(dialect: Database['dialect'], column: string): RawBuilder<Value> {
  const reference = sql.ref<Value>(column);
  return dialect === 'sqlite' ? sql<Value>`+${reference}` : sql<Value>`${reference}`;
}
