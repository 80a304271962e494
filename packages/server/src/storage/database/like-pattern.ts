import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

/** Whether a text contains another one anywhere. A–Z match a–z, which both databases lower in the same way. */
export function containsText(
  text: RawBuilder<string>,
  part: string,
  dialect: Database['dialect'],
): RawBuilder<boolean> {
  const lower = dialect === 'postgres' ? sql<string>`lower(${text} collate "C")` : sql<string>`lower(${text})`;
  return sql<boolean>`${lower} like ${likePattern(part)} escape '!'`;
}

function likePattern(part: string): string {
  const lower = part.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return `%${lower.replace(/[!%_]/g, '!$&')}%`;
}

/** Milliseconds since 1970 by the clock of the database, for times that several processes compare. */
export function databaseNow(dialect: Database['dialect']): RawBuilder<number> {
  return dialect === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
}
