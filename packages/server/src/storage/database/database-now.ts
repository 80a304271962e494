import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

/** Milliseconds since 1970 by the clock of the database, for times that several processes compare. */
export function databaseNow(dialect: Database['dialect']): RawBuilder<number> {
  return dialect === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
}
