import { createHash, type Hash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Database } from './database.ts';
import { insertAllKeys } from './pair-key.ts';
import { tableNotCopied } from './problems.ts';
import { tableNames } from './table-names.ts';
import type { Tables } from './tables.ts';

/** A database of either kind that rows are read from or written to. */
export interface RowDatabase {
  readonly db: Kysely<Tables>;
  readonly dialect: Database['dialect'];
}

export interface TableCopy {
  readonly source: RowDatabase;
  readonly target: RowDatabase;
  /** The columns of a table that have other values in the target. */
  readonly changed: Readonly<Record<string, Row>>;
  /** Called after each batch. */
  readonly onProgress?: ((table: string, rows: number) => void) | undefined;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 of all rows in the order of their keys, the same in both databases. */
  readonly sha256: string;
}

/** Nodes and unfinished uploads belong to the source. The migrations of the target have run there. Keys follow from their chunks. */
const notCopied = new Set([
  'node',
  'task_leader',
  'blob_intent',
  'pair_key',
  'schema_migration',
  'schema_migration_lock',
]);
export const copiedTables: readonly string[] = tableNames.filter((table) => !notCopied.has(table));

type Row = Readonly<Record<string, unknown>>;

interface Shape {
  readonly columns: readonly string[];
  /** The columns of the primary key. Both databases compare them byte by byte. */
  readonly key: readonly string[];
  /** The columns of texts and bytes, whose values have no fixed size. */
  readonly sized: readonly string[];
}

/** A batch has at most this many rows, and this many bytes unless its first row has more. */
const most = { rows: 500, bytes: 4 * 2 ** 20 };

/**
 * Copies all rows, and compares them with those of the source. Each batch is stored on its own and continues after the last key of
 * the target, so that an interrupted copy continues there. A table that differs has rows from the creation of the target, or the source
 * has changed since an interruption: the table and all that follow are copied once more, because their rows may refer to it.
 * @throws OperatorError when a table differs after that
 */
export async function copyTables(copy: TableCopy): Promise<readonly CopiedTable[]> {
  const copied: CopiedTable[] = [];
  for (const [index, table] of copiedTables.entries()) {
    const shape = await readShape(copy.target, table);
    const found = (await copyTable(copy, table, shape)) ?? (await copyAgain(copy, index, shape));
    if (found === undefined) throw tableNotCopied(table);
    copied.push(found);
  }
  await copyCounters(copy);
  if (copy.target.dialect === 'sqlite') await insertAllKeys(copy.target.db);
  return copied;
}

async function copyAgain(copy: TableCopy, index: number, shape: Shape): Promise<CopiedTable | undefined> {
  const [table = '', ...later] = copiedTables.slice(index);
  for (const each of [...later.reverse(), table]) {
    await sql`delete from ${sql.table(each)}`.execute(copy.target.db).catch((cause) => {
      throw tableNotCopied(each, cause);
    });
  }
  return await copyTable(copy, table, shape);
}

/** @returns undefined when the rows of the target differ from those of the source */
async function copyTable(
  { source, target, changed, onProgress }: TableCopy,
  table: string,
  shape: Shape,
): Promise<CopiedTable | undefined> {
  const read = { table, shape, changed: changed[table] ?? {} };
  const { rows: last } = await sql<Row>`select ${namesOf(shape.key)} from ${sql.table(table)}
    order by ${descending(shape.key)} limit 1`.execute(target.db);
  let rows = 0;
  for await (const batch of readBatches(source, read, last[0])) {
    await insertRows(target, table, shape.columns, batch);
    rows += batch.length;
    onProgress?.(table, rows);
  }
  const [wanted, found] = [await digestOf(source, read), await digestOf(target, read)];
  return wanted.sha256 === found.sha256 ? { table, ...found } : undefined;
}

async function readShape({ db, dialect }: RowDatabase, table: string): Promise<Shape> {
  type Column = { readonly name: string; readonly place: number; readonly sized: number };
  const query =
    dialect === 'sqlite'
      ? sql<Column>`select name, pk as place, type in ('TEXT', 'BLOB') as sized from pragma_table_info(${table})`
      : sql<Column>`select a.attname as name, (a.atttypid in ('text'::regtype, 'bytea'::regtype))::int as sized,
            coalesce(array_position(string_to_array(i.indkey::text, ' ')::int[], a.attnum::int), 0) as place
          from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
          where a.attrelid = to_regclass(${table}) and a.attnum > 0 and not a.attisdropped order by a.attnum`;
  const { rows } = await query.execute(db);
  const key = rows.filter(({ place }) => place > 0).sort((a, b) => a.place - b.place);
  const sized = rows.filter((column) => column.sized === 1);
  return { columns: rows.map(nameOf), key: key.map(nameOf), sized: sized.map(nameOf) };
}

const nameOf = ({ name }: { readonly name: string }) => name;
const namesOf = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
const valuesOf = (columns: readonly string[], row: Row) => sql`(${sql.join(columns.map((column) => row[column]))})`;
const descending = (columns: readonly string[]) => sql.join(columns.map((column) => sql`${sql.ref(column)} desc`));

interface TableRead {
  readonly table: string;
  readonly shape: Shape;
  readonly changed: Row;
}

/** Reads the rows after a key in the order of keys. It finds the sizes of the next rows first, which reads no long value. */
async function* readBatches(
  { db }: RowDatabase,
  { table, shape, changed }: TableRead,
  after?: Row,
): AsyncGenerator<readonly Row[]> {
  const key = namesOf(shape.key);
  const sizes = shape.sized.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  const size = sizes.length === 0 ? sql`0` : sql.join(sizes, sql` + `);
  for (let last = after; ; ) {
    const isBeyond = last === undefined ? sql`1 = 1` : sql`(${key}) > ${valuesOf(shape.key, last)}`;
    const { rows: found } = await sql<Row & { readonly row_bytes: number }>`select ${key}, ${size} as row_bytes
      from ${sql.table(table)} where ${isBeyond} order by ${key} limit ${sql.lit(most.rows)}`.execute(db);
    let bytes = 0;
    const beyond = found.findIndex((row) => {
      bytes += row.row_bytes;
      return bytes > most.bytes;
    });
    last = beyond === -1 ? found.at(-1) : found[Math.max(0, beyond - 1)];
    if (last === undefined) return;
    const { rows } = await sql<Row>`select ${namesOf(shape.columns)} from ${sql.table(table)}
      where ${isBeyond} and (${key}) <= ${valuesOf(shape.key, last)} order by ${key}`.execute(db);
    yield rows.map((row) => ({ ...row, ...changed }));
  }
}

async function insertRows(
  { db, dialect }: RowDatabase,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
) {
  // The columns that PostgreSQL counts keep their values.
  const overriding = dialect === 'postgres' ? sql`overriding system value` : sql``;
  await sql`insert into ${sql.table(table)} (${namesOf(columns)}) ${overriding}
    values ${sql.join(rows.map((row) => valuesOf(columns, row)))}`.execute(db);
}

async function digestOf(database: RowDatabase, read: TableRead): Promise<Omit<CopiedTable, 'table'>> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const batch of readBatches(database, read)) {
    rows += batch.length;
    for (const row of batch) for (const column of read.shape.columns) addValue(hash, row[column]);
  }
  return { rows, sha256: hash.digest('hex') };
}

/** Each value begins with its type and its size, so that no two rows have the same bytes. */
function addValue(hash: Hash, value: unknown): void {
  if (value instanceof Uint8Array) hash.update(`bytes ${value.byteLength} `).update(value);
  else {
    const text = String(value);
    hash.update(`${value === null ? 'null' : typeof value} ${text.length} ${text}`);
  }
}

/** Copies the last value of each column that the database counts. The search index may refer to a value whose row is deleted. */
async function copyCounters({ source, target }: TableCopy): Promise<void> {
  for (const { name, last } of await readCounters(source)) {
    if (last === null || last < 1 || !copiedTables.includes(name)) continue;
    if (target.dialect === 'sqlite') {
      await sql`delete from sqlite_sequence where name = ${name}`.execute(target.db);
      await sql`insert into sqlite_sequence (name, seq) values (${name}, ${last})`.execute(target.db);
    } else {
      await sql`select setval(pg_get_serial_sequence(${name}, attname), ${last}) from pg_attribute
        where attrelid = to_regclass(${name}) and attidentity <> ''`.execute(target.db);
    }
  }
}

async function readCounters({ db, dialect }: RowDatabase) {
  type Counter = { readonly name: string; readonly last: number | null };
  const query =
    dialect === 'sqlite'
      ? sql<Counter>`select name, seq as last from sqlite_sequence`
      : sql<Counter>`select c.relname as name,
            pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass) as last
          from pg_attribute a join pg_class c on c.oid = a.attrelid
          where a.attidentity <> '' and c.relnamespace = current_schema()::regnamespace`;
  return (await query.execute(db)).rows;
}
