import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** An insert that runs once for each list of values, all of them in one message to the thread. */
export interface InsertMany extends CompiledQuery {
  readonly lists: ReadonlyArray<readonly unknown[]>;
}

export function isInsertMany(query: CompiledQuery): query is InsertMany {
  return 'lists' in query;
}

/** Values of columns. */
export type RowOf<Table extends keyof Tables> = Readonly<Partial<Record<keyof Tables[Table], unknown>>>;

export interface ManyRows<Table extends keyof Tables> {
  /** What all rows have alike. */
  readonly alike: Readonly<Partial<Record<keyof Tables[Table], string | number | null>>>;
  /** The rest, with the same columns in each. */
  readonly rows: ReadonlyArray<RowOf<Table>>;
}

/** From so many rows on what they have alike is part of the statement, which then has to be prepared for them. */
const rowsWorthPreparing = 20;

/**
 * Inserts rows; SQLite only. One prepared statement, run for each row: building and binding one statement for all of them
 * takes five times as long, most of it on the event loop. See ADR 0033. @returns their row ids, in order
 */
export async function insertMany<Table extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: Table,
  { alike, rows }: ManyRows<Table>,
): Promise<number[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const isPrepared = rows.length >= rowsWorthPreparing;
  const same: ReadonlyArray<string | number | null> = Object.values(alike);
  const columns = [...Object.keys(alike), ...Object.keys(first)].map((column) => `"${column}"`);
  const values = [...same.map((value) => (isPrepared ? toLiteral(value) : '?')), ...Object.keys(first).map(() => '?')];
  const sql = `insert into "${table}" (${columns.join(', ')}) values (${values.join(', ')})`;
  const lists = rows.map((row) => (isPrepared ? Object.values(row) : [...same, ...Object.values(row)]));
  return runMany(db, sql, lists);
}

function toLiteral(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** Runs an insert for each list of its values. @returns the row ids, in order */
export async function runMany<Tables>(db: Kysely<Tables>, sql: string, lists: InsertMany['lists']): Promise<number[]> {
  const query: InsertMany = { ...CompiledQuery.raw(sql), lists };
  const { rows } = await db.executeQuery<{ rowIds: number[] }>(query);
  return rows[0]?.rowIds ?? [];
}
