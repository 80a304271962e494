import { constants, setPriority } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { readTable } from './read-tables.ts';
import { isDamage } from './sqlite-damage.ts';
import type { CheckedTable } from './verify-tables.ts';

/*
 * The program of a child process that checks each table of a SQLite file once. Arguments: the file, the maximum bytes to
 * read for each second, and the tables to check first. It prints one line of JSON for each table. The service kills it when
 * it stops.
 */

/** Milliseconds to wait for a lock of another process. */
const busyTimeout = 10_000;
/** Milliseconds of pause for each millisecond of work, so that the check uses at most a tenth of one processor. */
const pausePerWork = 9;

function checkTable(database: DatabaseSync, table: string, bytesPerSecond: number): CheckedTable {
  try {
    if (isReadable(database, table, bytesPerSecond)) return { table, page: null, finding: null };
    const findings = findingsOf(database, table);
    const [finding = 'ok'] = findings;
    if (finding === 'ok') return { table, page: null, finding: null };
    const named = /\bpage (\d+)/.exec(findings.join('\n'))?.[1];
    return { table, page: named === undefined ? findPage(database, table) : Number(named), finding };
  } catch (error) {
    return { table, page: null, finding: null, error: String(error) };
  }
}

/** Reads the table and its indexes in slices, with a pause after each. */
function isReadable(database: DatabaseSync, table: string, bytesPerSecond: number): boolean {
  const size = database.prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size');
  try {
    let [read, startedAt] = [0, performance.now()];
    for (const bytes of readTable(database, table)) {
      read += bytes;
      // Entries in the wrong order would be read again and again.
      if (read > Number(size.get()?.bytes)) return false;
      pause(Math.max((performance.now() - startedAt) * pausePerWork, (bytes / bytesPerSecond) * 1000));
      startedAt = performance.now();
    }
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** Reads the whole table in one transaction, which only a damaged table needs. */
function findingsOf(database: DatabaseSync, table: string): string[] {
  try {
    const check = database.prepare(`pragma quick_check("${table.replaceAll('"', '""')}")`);
    return check.all().flatMap(Object.values).map(String);
  } catch (error) {
    if (isDamage(error)) return [(error as Error).message];
    throw error;
  }
}

/** Finds the first unreadable page of a table or its indexes, which an error of SQLite does not name. */
function findPage(database: DatabaseSync, table: string): number | null {
  try {
    const pages = database.prepare(`select pageno from dbstat where pagetype = 'corrupted'
      and name in (select name from sqlite_schema where tbl_name = ?) limit 1`);
    const page = pages.get(table)?.pageno;
    return page === undefined ? null : Number(page);
  } catch {
    return null;
  }
}

/** The process has no other work, so it may block. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function run([file = '', bytesPerSecond, ...first]: readonly string[]): void {
  setPriority(constants.priority.PRIORITY_LOW);
  using database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeout });
  const names = database.prepare("select name from sqlite_schema where type = 'table' and rootpage > 0").all();
  const tables = new Set([...first, ...names.map(({ name }) => String(name))]);
  for (const table of tables) {
    if (names.some(({ name }) => name === table)) {
      console.log(JSON.stringify(checkTable(database, table, Number(bytesPerSecond))));
    }
  }
}

run(process.argv.slice(2));
