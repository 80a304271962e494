import { CompiledQuery, type Kysely } from 'kysely';
import type { Request } from './sqlite-protocol.ts';
import type { Tables } from './tables.ts';

/** A query that carries the request for its thread. */
export interface ThreadQuery extends CompiledQuery {
  readonly request: Request;
}

export function isThreadQuery(query: CompiledQuery): query is ThreadQuery {
  return 'request' in query;
}

/**
 * Sends the request to the thread.
 * @returns the only row of its answer
 */
export async function askThread<Row>(db: Kysely<Tables>, request: Request): Promise<Row> {
  const query: ThreadQuery = { ...CompiledQuery.raw('sql' in request ? request.sql : request.procedure), request };
  const { rows } = await db.executeQuery<Row>(query);
  return rows[0] as Row; // the answer has one row
}

/** Builds an insert of one row, with a parameter for each column. */
export function insertInto(table: keyof Tables, columns: readonly string[]): string {
  const names = columns.map((column) => `"${column}"`);
  return `insert into "${table}" (${names.join(', ')}) values (${columns.map(() => '?').join(', ')})`;
}

/**
 * Runs an insert for each list of values; SQLite only. One prepared statement runs once per row. A single statement for
 * all rows takes five times as long to build and bind, mostly on the event loop. See ADR 0126.
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
