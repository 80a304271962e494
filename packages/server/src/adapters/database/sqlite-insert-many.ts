import { CompiledQuery, type Kysely } from 'kysely';
import type { Request } from './sqlite-protocol.ts';
import type { Tables } from './tables.ts';

/** A query that says itself what its thread is to do. */
export interface ThreadQuery extends CompiledQuery {
  readonly request: Request;
}

export function isThreadQuery(query: CompiledQuery): query is ThreadQuery {
  return 'request' in query;
}

/** Has the thread do it. @returns the one row of its answer */
export async function askThread<Row>(db: Kysely<Tables>, request: Request): Promise<Row> {
  const query: ThreadQuery = { ...CompiledQuery.raw(request.sql), request };
  const { rows } = await db.executeQuery<Row>(query);
  return rows[0] as Row; // such an answer has one
}

export type Columns<Table extends keyof Tables> = Readonly<
  Partial<Record<keyof Tables[Table], string | number | null>>
>;

/** An insert of rows that have some columns alike: those are part of the statement, which is prepared for them. */
export function insertOf<Table extends keyof Tables & string>(
  table: Table,
  { alike, others }: { alike: Columns<Table>; others: ReadonlyArray<keyof Tables[Table] & string> },
): string {
  const columns = [...Object.keys(alike), ...others].map((column) => `"${column}"`);
  const values = [...Object.values<string | number | null | undefined>(alike).map(toLiteral), ...others.map(() => '?')];
  return `insert into "${table}" (${columns.join(', ')}) values (${values.join(', ')})`;
}

function toLiteral(value: string | number | null | undefined): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? null);
}

/**
 * Runs an insert for each list of its values; SQLite only. One prepared statement, run for each row: building and binding
 * one statement for all of them takes five times as long, most of it on the event loop. See ADR 0033.
 * @returns the row ids, in order
 */
export async function runMany(
  db: Kysely<Tables>,
  sql: string,
  lists: ReadonlyArray<readonly unknown[]>,
): Promise<readonly number[]> {
  if (lists.length === 0) return [];
  return (await askThread<{ rowIds: number[] }>(db, { sql, lists })).rowIds;
}
