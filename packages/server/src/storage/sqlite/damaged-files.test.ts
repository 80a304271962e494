import assert from 'node:assert/strict';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { checkSqliteFile } from './check-sqlite-file.ts';
import { readTable } from './read-tables.ts';
import { isDamage } from './sqlite-damage.ts';
import { sqliteFile } from './sqlite-database.ts';
import { createTableVerification } from './verify-tables.ts';

/** Creates a database with a table of many pages, an index of many pages and free pages. */
async function createFile(t: TestContext) {
  const folder = await temporaryFolder(t);
  const file = join(folder, sqliteFile);
  const database = new DatabaseSync(file);
  database.exec(`pragma journal_mode = wal;
    create table tea (id text primary key, leaves text) strict;
    create table cup (id integer primary key, note text) strict;
    create index tea_of_leaves on tea (leaves, id)`);
  const insert = database.prepare('insert into tea values (?, ?)');
  database.exec('begin');
  for (let i = 0; i < 3_000; i++) insert.run(`tea ${i}`, `${i} `.repeat(40));
  database.exec('commit; delete from tea where rowid > 1000; pragma wal_checkpoint(truncate)');
  const pagesOf = (name: string) =>
    database.prepare('select pageno, pagetype from dbstat where name = ?').all(name) as Array<{
      readonly pageno: number;
      readonly pagetype: string;
    }>;
  const pages = { table: pagesOf('tea'), index: pagesOf('tea_of_leaves') };
  database.close();
  const leafOf = (kind: keyof typeof pages) =>
    pages[kind].find(({ pagetype }) => pagetype === 'leaf')?.pageno ?? assert.fail();
  return { folder, file, leafOf };
}

/** Inverts 64 bytes of a page, counted from 1. */
async function damage(file: string, page: number, offset = 0): Promise<void> {
  const bytes = await readFile(file);
  for (let index = 0; index < 64; index++) {
    const place = (page - 1) * 4096 + offset + index;
    bytes.writeUInt8((bytes[place] ?? 0) ^ 0xff, place);
  }
  await writeFile(file, bytes);
}

function openVerification(file: string, bytesPerSecond = Number.POSITIVE_INFINITY) {
  const lines: string[] = [];
  const logger = createLogger('error', { write: (line: string) => void lines.push(line) });
  return { lines, ...createTableVerification({ file, bytesPerSecond, logger, metrics: createMetrics() }) };
}

async function verify(file: string) {
  const { run, damaged, lines } = openVerification(file);
  await run(new AbortController().signal);
  return { damaged: damaged(), lines };
}

test('an undamaged database file passes both checks, and a missing or empty one is not checked', async (t) => {
  const { folder, file } = await createFile(t);
  checkSqliteFile(folder);
  assert.deepEqual(await verify(file), { damaged: [], lines: [] });
  await writeFile(file, '');
  checkSqliteFile(folder);
  await rm(file);
  checkSqliteFile(folder);
});

test('a damaged header, schema page or list of free pages and a truncated file make the start fail, and the error names the file and the damage', async (t) => {
  const { folder, file } = await createFile(t);
  const original = await readFile(file);
  const trunk = original.readUInt32BE(32);
  assert.ok(trunk > 0);
  const refused = (finding: RegExp) => (error: Error) => {
    assert.match(error.message, finding);
    assert.ok(error.message.startsWith(`The database ${file} is damaged: `), error.message);
    return true;
  };
  const cases: ReadonlyArray<readonly [string, () => Promise<void>, RegExp]> = [
    ['header', () => damage(file, 1), /file is not a database/],
    ['schema', () => damage(file, 1, 100), /malformed/],
    ['free list', () => damage(file, trunk), /page \d+ of the list of free pages states|as its next page/],
    ['entries of the free list', () => damage(file, trunk, 8), /names page \d+, which does not exist/],
    ['cut', () => writeFile(file, original.subarray(0, original.length - 8192)), /malformed|the header states/],
  ];
  for (const [name, destroy, finding] of cases) {
    await writeFile(file, original);
    await destroy();
    assert.throws(() => checkSqliteFile(folder), refused(finding), name);
  }
  assert.ok((await stat(file)).size > 0);
});

for (const kind of ['table', 'index'] as const)
  test(`a damaged page of a ${kind} does not prevent the start, and the background check names the table and the page once`, async (t) => {
    const { folder, file, leafOf } = await createFile(t);
    const page = leafOf(kind);
    await damage(file, page);
    checkSqliteFile(folder);
    const { damaged, lines } = await verify(file);
    assert.deepEqual(
      damaged.map((each) => [each.table, each.page]),
      [['tea', page]],
    );
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', new RegExp(`"table":"tea","page":${page},.*"database damaged"`));
  });

test('the background check reads every page of rowid tables, tables without rowid, their indexes and their long values', async (t) => {
  const { file } = await createFile(t);
  using database = new DatabaseSync(file);
  database.exec(`create table pot (id text primary key, note text, size integer) strict, without rowid;
    create index pot_of_size on pot (size, note);
    create index pot_of_note on pot (note) where note is not null;
    begin`);
  const insert = database.prepare('insert into pot values (?, ?, ?)');
  for (let i = 0; i < 2_000; i++) insert.run(`pot ${i}`, i % 3 === 0 ? null : `note ${i}`, i % 2 === 0 ? null : i % 5);
  database.exec(`insert into tea values ('long tea', '${'x'.repeat(100_000)}');
    commit; pragma wal_checkpoint(truncate)`);
  const pages = database
    .prepare(
      `select pageno, pagetype, tbl_name from dbstat d join sqlite_schema s on s.name = d.name
      where tbl_name in ('tea', 'pot') order by tbl_name, d.name, path`,
    )
    .all();
  database.close();
  // SQLite notices a changed link of a long value, but the last page has none.
  const checked = pages.filter(
    (page, index) => page.pagetype !== 'overflow' || pages[index + 1]?.pagetype === 'overflow',
  );
  assert.ok(checked.length > 150, `${checked.length} pages`);
  const handle = await open(file, 'r+');
  t.after(() => handle.close());
  const original = Buffer.alloc(64);
  for (const { pageno, tbl_name } of checked) {
    const place = (Number(pageno) - 1) * 4096;
    await handle.read(original, 0, 64, place);
    await handle.write(
      original.map((byte) => byte ^ 0xff),
      0,
      64,
      place,
    );
    using damaged = new DatabaseSync(file, { readOnly: true });
    assert.throws(() => [...readTable(damaged, String(tbl_name))], isDamage, `page ${pageno}`);
    await handle.write(original, 0, 64, place);
  }
  assert.deepEqual(await verify(file), { damaged: [], lines: [] });
});

test('the background check reads slices of about a mebibyte, and the log of the database can be emptied between them', async (t) => {
  const { file } = await createFile(t);
  using writer = new DatabaseSync(file);
  const insert = writer.prepare('insert into tea values (?, ?)');
  writer.exec('begin');
  for (let i = 0; i < 12_000; i++) insert.run(`black tea ${i}`, i % 4 === 0 ? null : `${i % 7} `.repeat(200));
  writer.exec('commit');
  const expected = Number(
    writer.prepare('select sum(length(id) + ifnull(length(leaves), 1)) as bytes from tea').get()?.bytes,
  );
  using reader = new DatabaseSync(file, { readOnly: true });
  let [slices, total] = [0, 0];
  for (const bytes of readTable(reader, 'tea')) {
    writer.exec("update cup set note = 'full'; insert into cup (note) values ('full')");
    assert.equal(writer.prepare('pragma wal_checkpoint(truncate)').get()?.busy, 0);
    assert.ok(bytes < 1.1 * 2 ** 20, `${bytes} bytes`);
    [slices, total] = [slices + 1, total + bytes];
  }
  assert.ok(slices > 6, `${slices} slices`);
  const rowids = 13_000;
  assert.ok(total > 2 * expected + rowids && total < 3 * expected, `${total} bytes`);
});

test('the indexes of a store contain only columns in ascending order, as the background check expects', async (t) => {
  const { database, close } = await openTemporaryDatabase();
  t.after(close);
  const { rows } = await sql`select s.name from sqlite_schema s, pragma_index_xinfo(s.name) x
    where s.type = 'index' and (x.cid = -2 or x.desc = 1 or x.coll <> 'BINARY')`.execute(database.read);
  assert.deepEqual(rows, []);
});

test('known damage is reported at once after a restart, and forgotten when a check finds none', async (t) => {
  const { file, leafOf } = await createFile(t);
  const page = leafOf('table');
  await damage(file, page);
  const { damaged: found } = await verify(file);
  const restarted = openVerification(file);
  assert.deepEqual([restarted.damaged(), restarted.lines.length], [found, 1]);
  await damage(file, page);
  await restarted.run(new AbortController().signal);
  assert.deepEqual(restarted.damaged(), []);
  assert.deepEqual(openVerification(file).damaged(), []);
});

test('an error that is no damage fails the check of its table only, and the others are checked', async (t) => {
  const { file, leafOf } = await createFile(t);
  const database = new DatabaseSync(file);
  database.function('only_here', { deterministic: true }, (note) => note);
  database.exec('create table cake (id text, name text as (only_here(id))); pragma wal_checkpoint(truncate)');
  database.close();
  await damage(file, leafOf('table'));
  const { run, damaged } = openVerification(file);
  await assert.rejects(run(new AbortController().signal), /The check of the tables failed: cake: .*only_here/);
  assert.deepEqual(
    damaged().map(({ table }) => table),
    ['tea'],
  );
  const missing = openVerification(`${file}.missing`);
  await assert.rejects(missing.run(new AbortController().signal), /the process ended with the code 1/);
});

test('a stop ends the check of the tables during its pause, without an error', async (t) => {
  const { file } = await createFile(t);
  const verification = openVerification(file, 1);
  const stopping = new AbortController();
  const running = verification.run(stopping.signal);
  stopping.abort();
  await running;
  assert.deepEqual(verification.damaged(), []);
});
