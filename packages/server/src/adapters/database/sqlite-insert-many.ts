import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** An insert that runs once for each list of values, all of them in one message to the thread. */
export interface InsertMany extends CompiledQuery {
  readonly lists: ReadonlyArray<readonly unknown[]>;
}

export function isInsertMany(query: CompiledQuery): query is InsertMany {
  return 'lists' in query;
}

/**
 * Inserts rows that all have the same columns; SQLite only. One prepared statement, run for each row: building and
 * binding one statement for all of them takes five times as long, most of it on the event loop. See ADR 0033.
 * @returns their row ids, in order
 */
export async function insertMany<Table extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: Table,
  rows: ReadonlyArray<Readonly<Partial<Record<keyof Tables[Table], unknown>>>>,
): Promise<number[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const columns = Object.keys(first);
  const names = columns.map((column) => `"${column}"`).join(', ');
  const sql = `insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`;
  const lists = rows.map((row) => Object.values(row));
  return runMany(db, sql, lists);
}

/** Runs an insert for each list of its values. @returns the row ids, in order */
export async function runMany<Tables>(db: Kysely<Tables>, sql: string, lists: InsertMany['lists']): Promise<number[]> {
  const query: InsertMany = { ...CompiledQuery.raw(sql), lists };
  const { rows } = await db.executeQuery<{ rowIds: number[] }>(query);
  return rows[0]?.rowIds ?? [];
}
