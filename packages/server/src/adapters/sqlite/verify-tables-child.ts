import { constants, setPriority } from 'node:os';
import { DatabaseSync } from 'node:sqlite';

/*
 * The program of a child process that checks each table of a SQLite file once. Arguments: the file, and the
 * milliseconds of pause for each millisecond of work. It prints one line of JSON for each table. The service kills it
 * when it stops.
 */

/** Milliseconds to wait for a lock of another process. */
const busyTimeout = 10_000;

function checkTable(database: DatabaseSync, table: string) {
  const findings = findingsOf(database, table);
  const [finding = 'ok'] = findings;
  if (finding === 'ok') return { table, page: null, finding: null };
  const named = /\bpage (\d+)/.exec(findings.join('\n'))?.[1];
  return { table, page: named === undefined ? findPage(database, table) : Number(named), finding };
}

function findingsOf(database: DatabaseSync, table: string): string[] {
  try {
    const check = database.prepare(`pragma quick_check("${table.replaceAll('"', '""')}")`);
    return check.all().flatMap(Object.values).map(String);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
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

function run([file = '', pausePerWork]: readonly string[]): void {
  setPriority(constants.priority.PRIORITY_LOW);
  using database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeout });
  const tables = database.prepare("select name from sqlite_schema where type = 'table' and rootpage > 0").all();
  for (const { name } of tables) {
    const startedAt = performance.now();
    console.log(JSON.stringify(checkTable(database, String(name))));
    pause((performance.now() - startedAt) * Number(pausePerWork));
  }
}

run(process.argv.slice(2));
