import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Wraps a column in a condition so that no index is used for it. SQLite has no statistics here and would choose the
 * index whose first column is compared for equality. It would then scan a whole collection, where the primary key finds
 * a few rows. PostgreSQL knows how selective each condition is.
 */
export function withoutIndex<Value>(dialect: Database['dialect'], column: string): RawBuilder<Value> {
  const reference = sql.ref<Value>(column);
  return dialect === 'sqlite' ? sql<Value>`+${reference}` : sql<Value>`${reference}`;
}
