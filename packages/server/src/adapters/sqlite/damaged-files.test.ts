import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../kernel/log/logger.ts';
import { createMetrics } from '../../kernel/metrics.ts';
import { checkSqliteFile } from './check-sqlite-file.ts';
import { sqliteFile } from './sqlite-database.ts';
import { createTableVerification } from './verify-tables.ts';

/** Creates a database with a table of many pages, an index of many pages and free pages. */
async function createFile(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-damage-'));
  t.after(() => rm(folder, { recursive: true }));
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

async function verify(file: string) {
  const lines: string[] = [];
  const verification = createTableVerification({
    logger: createLogger('error', { write: (line: string) => void lines.push(line) }),
    file,
    metrics: createMetrics(),
    pausePerWork: 0,
  });
  await verification.run(new AbortController().signal);
  return { damaged: verification.damaged(), lines };
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

test('a stop ends the check of the tables during its pause, without an error', async (t) => {
  const { file } = await createFile(t);
  const verification = createTableVerification({
    file,
    logger: createLogger('silent'),
    metrics: createMetrics(),
    pausePerWork: 1_000_000,
  });
  const stopping = new AbortController();
  const running = verification.run(stopping.signal);
  stopping.abort();
  await running;
  assert.deepEqual(verification.damaged(), []);
});
