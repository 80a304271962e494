import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';

/** Bytes of values that one slice reads. A larger row is a slice of its own. */
const sliceBytes = 2 ** 20;

/** The rows of a table, or the entries of one of its indexes, in the order in which SQLite stores them. */
interface Tree {
  readonly source: string;
  readonly columns: string;
  /** The columns that order the entries and together identify one. */
  readonly key: readonly string[];
}

interface Range {
  readonly condition: string;
  readonly values: readonly SQLInputValue[];
}

/**
 * Reads every row of a table and every entry of its indexes, and thereby each of their pages. No transaction is open between two
 * slices, so that the log of the database can be emptied there.
 * @returns the bytes of each slice
 * @throws SQLITE_CORRUPT when a page cannot be read
 */
export function* readTable(database: DatabaseSync, table: string): Generator<number, void, void> {
  for (const tree of listTrees(database, table)) yield* readTree(database, tree);
}

function* readTree(database: DatabaseSync, { source, columns, key }: Tree): Generator<number, void, void> {
  const order = key.map(quote).join(', ');
  let ranges: Range[] = [{ condition: 'true', values: [] }];
  for (let range = ranges.shift(); range !== undefined; range = ranges.shift()) {
    const { condition, values } = range;
    const rows = database.prepare(`select ${columns} from ${source} and ${condition} order by ${order}`);
    rows.setReadBigInts(true);
    let bytes = 0;
    for (const row of rows.iterate(...values)) {
      bytes += Object.values(row).reduce<number>((sum, value) => sum + bytesOf(value), 0);
      if (bytes < sliceBytes) continue;
      ranges = rangesAfter(key, row);
      break;
    }
    yield bytes;
  }
}

/** The entries after this one, as ranges that SQLite finds without reading others. NULL comes first in the order. */
function rangesAfter(key: readonly string[], row: Record<string, SQLOutputValue>): Range[] {
  const last = key.map((column) => row[column] ?? null);
  return key
    .map((column, place) => ({
      condition: [
        ...key.slice(0, place).map((prefix) => `${quote(prefix)} is ?`),
        last[place] === null ? `${quote(column)} is not null` : `${quote(column)} > ?`,
      ].join(' and '),
      values: last.slice(0, last[place] === null ? place : place + 1),
    }))
    .reverse();
}

function listTrees(database: DatabaseSync, table: string): Tree[] {
  const found = database.prepare(`select name, origin, (select sql from sqlite_schema s where s.name = i.name) as sql
    from pragma_index_list(?) i`);
  const columnsOf = database.prepare('select name, key from pragma_index_xinfo(?) order by seqno');
  const isWithoutRowid = database.prepare('select wr from pragma_table_list where name = ?').get(table)?.wr === 1;
  const rows = { source: `${quote(table)} where true`, columns: 'rowid as "rowid", *', key: ['rowid'] };
  const trees = found.all(table).map(({ name, origin, sql }) => {
    const columns = columnsOf.all(String(name));
    // The primary key of a table without rowid contains the rows.
    if (isWithoutRowid && origin === 'pk') {
      const key = columns.filter((column) => column.key === 1).map((column) => String(column.name));
      return { source: rows.source, columns: '*', key };
    }
    const key = columns.map((column) => String(column.name ?? 'rowid'));
    const condition = /\bwhere\b(.*)$/is.exec(String(sql ?? ''))?.[1] ?? 'true';
    const source = `${quote(table)} indexed by ${quote(String(name))} where (${condition})`;
    return { source, columns: key.map((column) => `${quote(column)} as ${quote(column)}`).join(', '), key };
  });
  return isWithoutRowid ? trees : [rows, ...trees];
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** At most the bytes that the value takes in the file. */
function bytesOf(value: SQLOutputValue): number {
  if (typeof value === 'string') return value.length;
  return value instanceof Uint8Array ? value.byteLength : 1;
}
