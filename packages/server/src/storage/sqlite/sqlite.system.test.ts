import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { Database } from '../database/database.ts';
import { testDatabase } from '../database/testing/database.suite.ts';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { openDatabase } from '../open-database.ts';
import { openSqliteThread, type SqliteThread } from './sqlite-thread.ts';

const logger = createLogger('silent');
const newFolder = () => mkdtemp(path.join(tmpdir(), 'quartermaster-sqlite-'));
const openIn = (dataFolder: string) => openDatabase({ admission: createAdmission(), url: null, dataFolder, logger });
const removeFolder = (folder: string) => rm(folder, { recursive: true });

testDatabase('SQLite', openTemporaryDatabase);

async function readPragma(db: Database['read'], name: string): Promise<unknown> {
  const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db);
  return rows[0]?.[name];
}

describe('the SQLite file', () => {
  let folder: string;
  const opened: Database[] = [];
  const open = async () => {
    const database = await openIn(folder);
    opened.push(database);
    return database;
  };
  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
    await removeFolder(folder);
  });
  const file = () => path.join(folder, 'quartermaster.db');

  it('the file uses synchronous FULL and a write-ahead log, when created and when opened again', async () => {
    for (let time = 0; time < 2; time += 1) {
      const database = await open();
      for (const db of [database.write, database.read]) {
        assert.equal(await readPragma(db, 'synchronous'), 2);
        assert.equal(await readPragma(db, 'journal_mode'), 'wal');
        assert.equal(await readPragma(db, 'foreign_keys'), 1);
      }
      await database.close();
    }
  });

  it('only the owner can read the file', async () => {
    const database = await open();
    for (const name of [file(), `${file()}-wal`]) assert.equal((await stat(name)).mode & 0o777, 0o600);
    await database.close();
  });

  it('two readers work at the same time, and closing ends both', async () => {
    const database = await open();
    const count = () => database.read.selectFrom('project').select('id').execute();
    // The first reader waits for the answer of the second.
    const both = database.read.transaction().execute(async (transaction) => {
      await transaction.selectFrom('project').select('id').execute();
      return count();
    });
    assert.deepEqual(await both, []);
    await database.close();
    await assert.rejects(count());
  });

  it('closing waits for a reader that is being opened', async () => {
    const database = await open();
    const reads = [1, 2].map(() => database.read.selectFrom('project').select('id').execute());
    await database.close();
    await Promise.allSettled(reads);
  });

  it('`read` accepts no writes', async () => {
    const database = await open();
    const write = database.read.insertInto('project').values({ id: 'x', name: 'x', created_at: 1 }).execute();
    await assert.rejects(write, { name: 'Problem', code: 'SERVICE_UNAVAILABLE', condition: 'database_read_only' });
    await database.close();
  });

  it('an older version does not open the file', async () => {
    await (await open()).close();
    const db = new DatabaseSync(file());
    db.exec(`insert into schema_migration values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')`);
    db.close();
    await assert.rejects(
      open(),
      /newer version of Quartermaster changed the database \(migrations 9999-from-the-future\)/,
    );
  });

  it('a file that is not a database is refused', async () => {
    await writeFile(file(), 'this is not a database, it is a text that is long enough to be looked at'.repeat(20));
    await assert.rejects(open(), /not a database/);
  });

  it('several processes that open the file at the same time create it once', async () => {
    const databases = await Promise.all(Array.from({ length: 3 }, () => open()));
    for (const database of databases) await database.check();
    await Promise.all(databases.map((database) => database.close()));
  });

  it('two processes write to the file concurrently without losing a row', async () => {
    const writers = [await startWriter(folder, 'a'), await startWriter(folder, 'b')];
    const ended = writers.map((writer) => once(writer, 'exit'));
    for (const writer of writers) writer.send('go');
    assert.deepEqual(await Promise.all(ended), [
      [0, null],
      [0, null],
    ]);
    const database = await open();
    const rows = await database.read.selectFrom('project').select('id').execute();
    assert.equal(rows.length, 200);
    await database.close();
  });
});

/** Opens the database, reports it, and writes 100 rows on request. */
async function startWriter(folder: string, name: string): Promise<ChildProcess> {
  const writer = fork(path.join(import.meta.dirname, 'testing/sqlite-writer.fixture.ts'), [folder, name], { env: {} });
  await once(writer, 'message');
  return writer;
}

describe('a connection in a thread', () => {
  let folder: string;
  let thread: SqliteThread | undefined;
  const open = async (memory?: number) => {
    thread = await openSqliteThread(path.join(folder, 'x.db'), { readOnly: false, ...(memory && { memory }) });
    return thread;
  };
  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(async () => {
    await thread?.close();
    await removeFolder(folder);
  });

  it('opening a missing file is refused', async () => {
    const opening = openSqliteThread(path.join(folder, 'none.db'), { readOnly: true });
    await assert.rejects(opening, /none\.db could not be opened: unable to open/);
  });

  it('errors have names, and responses arrive in the order of the requests', async () => {
    const { send } = await open();
    const ask = (text: string, parameters: unknown[] = []) => send({ sql: text, parameters, place: 'alone' });
    const answers = await Promise.allSettled([
      ask('create table t (a text unique)'),
      ask('insert into t values (?)', ['x']),
      ask('select ?', [() => 'a function cannot be sent']),
      ask('insert into t values (?)', ['x']),
      ask('select a from t'),
      ask('not sql'),
    ]);
    const [created, inserted, unsent, ...others] = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value : answer.reason.code,
    );
    assert.deepEqual(
      [created, inserted],
      [
        { rows: [], changes: 0 },
        { rows: [], changes: 1 },
      ],
    );
    assert.equal(unsent, DOMException.DATA_CLONE_ERR);
    assert.deepEqual(others, ['SQLITE_CONSTRAINT_UNIQUE', { rows: [{ a: 'x' }] }, 'SQLITE_ERROR']);
  });

  it('a damaged page, which SQLite does not distinguish from a failed read, results in 503', async () => {
    const first = await open();
    const ask = (text: string) => thread?.send({ sql: text, parameters: [], place: 'alone' });
    await ask('create table t (a text)');
    await ask('insert into t select hex(randomblob(2000)) from (values (1), (2), (3), (4), (5), (6), (7), (8))');
    await first.close();
    const bytes = await readFile(path.join(folder, 'x.db'));
    await writeFile(path.join(folder, 'x.db'), bytes.fill(0xff, 4096));
    await open();
    const refusal = { status: 503, isFault: true, headers: { 'Retry-After': '1' }, message: /is damaged/ };
    await assert.rejects(ask('select a from t') ?? assert.fail(), refusal);
  });

  it('a database lock that another process does not release results in 503', async () => {
    const { send } = await open();
    await send({ sql: 'pragma busy_timeout = 1', parameters: [], place: 'alone' });
    await send({ sql: 'create table t (a text)', parameters: [], place: 'alone' });
    const other = new DatabaseSync(path.join(folder, 'x.db'));
    other.exec('begin immediate');
    const write = send({ sql: "insert into t values ('x')", parameters: [], place: 'alone' });
    await assert.rejects(write, { status: 503 });
    other.close();
  });

  it('requests after the database was closed are refused', async () => {
    const { send, close } = await open();
    await close();
    await close();
    await assert.rejects(send({ sql: 'select 1', parameters: [], place: 'alone' }), /closed/);
  });

  it('a statement in a transaction that SQLite has ended is refused', async () => {
    const { send } = await open();
    const ask = (text: string, place: 'first' | 'inside') => send({ sql: text, parameters: [], place });
    await ask('create table t (a unique)', 'first');
    await ask('insert into t values (1)', 'inside');
    await assert.rejects(ask('insert or rollback into t values (1)', 'inside'));
    await assert.rejects(ask('insert into t values (2)', 'inside'), /rolled this transaction back/);
    await assert.rejects(send('commit'), /rolled this transaction back/);
  });

  it('all waiting and later requests are rejected when the thread ends', async () => {
    const { send } = await open(16);
    const ask = (text: string) => send({ sql: text, parameters: [], place: 'alone' });
    const many = 'with recursive n (i) as (select 1 union all select i + 1 from n limit 200000) select i from n';
    const answers = await Promise.allSettled([ask(many), ask('select 1')]);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      ['rejected', 'rejected'],
    );
    await assert.rejects(ask('select 1'), /thread of the database has ended/);
  });
});
