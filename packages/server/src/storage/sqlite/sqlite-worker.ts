import { rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { isDiskFull } from '../../platform/disk/disk-space.ts';
import {
  isFailedSync,
  type PlacedRequest,
  type ProcedureCall,
  type StatementAnswer,
  type StatementFailure,
  type WorkerAnswer,
  type WorkerRequest,
  type WorkerStart,
} from '../database/sqlite-protocol.ts';
import type { ThreadProcedures } from '../search-index/thread-procedures.ts';
import type { ThreadStatements, ThreadValue } from '../search-index/thread-statements.ts';
import { readableJson } from './readable-json.ts';

/** Milliseconds that a statement waits for a lock of another process. */
const busyTimeout = 10_000;
/** KiB of the file that a connection caches in memory. */
const cacheSize = 16_384;
const preparedStatements = 200;
/**
 * Pages of 4 KiB in the write-ahead log after which a checkpoint writes them into the file. A page that several
 * transactions changed is written and synced once.
 */
const checkpointPages = 4_000;
/** Bytes of the write-ahead log that stay on disk after a checkpoint. */
const logSizeLimit = 64 * 1024 * 1024;

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly givesRows: boolean;
}
interface Connection {
  readonly start: WorkerStart;
  readonly db: DatabaseSync;
  /** A writer takes the lock at the start, so that a write of another process cannot make it fail later. */
  readonly begin: string;
  prepare(sql: string): PreparedStatement;
  procedures?: ThreadProcedures;
}

function openConnection(start: WorkerStart): Connection {
  const { path, readOnly } = start;
  const db = new DatabaseSync(path, { readOnly, timeout: busyTimeout, enableForeignKeyConstraints: true });
  if (!readOnly) {
    // The mode can change only before the first page is written, so this statement comes first. An existing store keeps its mode.
    db.exec('pragma auto_vacuum = incremental');
    db.exec(`pragma journal_mode = wal; pragma journal_size_limit = ${logSizeLimit}`);
    // Zeros overwrite deleted rows. Freed pages keep theirs until the file gets smaller, because zeros in them cost 70 % more writes.
    db.exec(`pragma wal_autocheckpoint = ${checkpointPages}; pragma secure_delete = fast`);
  }
  db.exec(`pragma synchronous = full; pragma temp_store = memory; pragma cache_size = -${cacheSize}`);
  // The mode is checked, because a SQLite build with another default runs a re-opened log at NORMAL and loses commits.
  assertPragma(db, 'journal_mode', 'wal');
  assertPragma(db, 'synchronous', 2);
  assertPragma(db, 'foreign_keys', 1);
  db.function('readable_json', { deterministic: true }, (json) => readableJson(String(json)));
  return { start, db, begin: readOnly ? 'begin' : 'begin immediate', prepare: createStatementCache(db) };
}

function assertPragma(db: DatabaseSync, name: string, expected: string | number): void {
  const found = db.prepare(`pragma ${name}`).get()?.[name];
  if (found !== expected) throw new Error(`SQLite runs with ${name} = ${found}; it must be ${expected}.`);
}

/** Caches the statements used last. A Map keeps the order of insertion, so the first key is the oldest. */
function createStatementCache(db: DatabaseSync): (sql: string) => PreparedStatement {
  const cache = new Map<string, PreparedStatement>();
  return (sql) => {
    const known = cache.get(sql);
    if (known !== undefined) {
      cache.delete(sql);
      cache.set(sql, known);
      return known;
    }
    const statement = db.prepare(sql);
    // A statement that is run once frees one page, whatever its argument.
    const isStepped = sql.startsWith('pragma incremental_vacuum');
    const prepared = { statement, givesRows: isStepped || statement.columns().length > 0 };
    // FTS5 leaves a last row id beyond 2^53, which node:sqlite cannot return as a number.
    if (!prepared.givesRows) statement.setReadBigInts(true);
    cache.set(sql, prepared);
    if (cache.size > preparedStatements) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest);
        break;
      }
    }
    return prepared;
  };
}

// Kysely passes the values that the caller bound. node:sqlite itself refuses unknown types.
type Values = Array<string | number | bigint | null | Uint8Array>;

function runStatement(connection: Connection, request: PlacedRequest): StatementAnswer {
  const { db, begin, prepare } = connection;
  if (request.place === 'first') db.exec(begin);
  if (request.place === 'inside') assertTransaction(db);
  if ('procedure' in request) return runProcedure(connection, request);
  const { statement, givesRows } = prepare(request.sql);
  if ('lists' in request) {
    const rowIds = request.lists.map((list) => Number(statement.run(...(list as Values)).lastInsertRowid));
    return { rows: [{ rowIds }] };
  }
  if ('rows' in request) {
    for (const row of JSON.parse(request.rows)) statement.run(...row);
    return { rows: [] };
  }
  const values = request.parameters as Values;
  if (givesRows) return { rows: statement.all(...values) };
  return { rows: [], changes: Number(statement.run(...values).changes) };
}

/**
 * Loads the procedures of the search index at the first call of one. They are nine tenths of the code of this thread, and a
 * thread that answers statements only never needs them.
 */
async function loadProcedures(connection: Connection): Promise<void> {
  const { createThreadProcedures } = await import('../search-index/thread-procedures.ts');
  const { prepare, start } = connection;
  const statements: ThreadStatements = {
    // The procedure that sends a statement knows its columns.
    all: <Row>(sql: string, ...values: Values) => prepare(sql).statement.all(...values) as Row[],
    lists(sql, ...values) {
      const { statement } = prepare(sql);
      statement.setReturnArrays(true);
      const lists: unknown = statement.all(...values);
      statement.setReturnArrays(false);
      return lists as ThreadValue[][]; // as requested
    },
    run: (sql, ...values) => Number(prepare(sql).statement.run(...values).lastInsertRowid),
  };
  connection.procedures = createThreadProcedures(statements, start.searchCacheBytes);
}

/** Runs a procedure in the transaction of its place, or in one of its own. */
function runProcedure(connection: Connection, { place, procedure, argument }: PlacedRequest & ProcedureCall) {
  const { db, procedures } = connection;
  if (procedures === undefined) throw new Error('The procedures of the search index are not loaded.');
  if (place === 'alone') db.exec(connection.begin);
  try {
    const result = procedures.call(procedure, argument);
    if (place === 'alone') db.exec('commit');
    return { rows: [result] };
  } catch (error) {
    if (place === 'alone' && db.isTransaction) db.exec('rollback');
    throw error;
  }
}

function assertTransaction(db: DatabaseSync): void {
  if (!db.isTransaction) throw new Error('SQLite has rolled this transaction back; start it again.');
}

function handle(connection: Connection, request: WorkerRequest): StatementAnswer {
  const { db } = connection;
  if (request === 'commit') {
    assertTransaction(db);
    db.exec('commit');
  } else if (request === 'rollback') {
    if (db.isTransaction) db.exec('rollback');
  } else if (request === 'close') {
    db.close();
  } else {
    return runStatement(connection, request);
  }
  return { rows: [] };
}

function describe(error: unknown, path: string): StatementFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Error && 'errcode' in error)) return { message };
  const resultCode = Number(error.errcode);
  return { message, resultCode: failedWrites.has(resultCode) && lacksSpace(path) ? sqliteFull : resultCode };
}

/**
 * SQLITE_IOERR_WRITE, _TRUNCATE and _SHMSIZE of sqlite3.h. SQLite does not distinguish an exhausted quota from a broken
 * disk.
 */
const failedWrites: ReadonlySet<number> = new Set([778, 1546, 4874]);
const sqliteFull = 13;
/** A number of bytes larger than any single write of SQLite. */
const probeSize = 65_536;

/** Returns whether a file beside the database cannot be written for lack of disk space. */
function lacksSpace(path: string): boolean {
  const probe = `${path}-room`;
  try {
    writeFileSync(probe, Buffer.alloc(probeSize), { mode: 0o600 });
    return false;
  } catch (error) {
    return isDiskFull(error);
  } finally {
    rmSync(probe, { force: true });
  }
}

function attempt(act: () => StatementAnswer, { path }: WorkerStart): WorkerAnswer {
  try {
    return act();
  } catch (error) {
    return { failure: describe(error, path) };
  }
}

/** Waits in `Atomics.wait` instead of an event loop, which halves the time of a round trip with `postMessage`. */
function nextRequest(port: MessagePort, requestSignal: Int32Array): WorkerRequest {
  for (;;) {
    const lastSignal = Atomics.load(requestSignal, 0);
    const received = receiveMessageOnPort(port);
    if (received !== undefined) return received.message;
    Atomics.wait(requestSignal, 0, lastSignal);
  }
}

/** Blocks the thread, because the process is about to end and must not write or answer anything. */
function waitForEnd(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function serve(start: WorkerStart): Promise<void> {
  let connection: Connection | undefined;
  const opened = attempt(() => {
    connection = openConnection(start);
    return { rows: [] };
  }, start);
  start.port.postMessage(opened);
  while (connection !== undefined) {
    const request = nextRequest(start.port, start.requestSignal);
    const current = connection;
    if (current.procedures === undefined && typeof request === 'object' && 'procedure' in request) {
      await loadProcedures(current);
    }
    const answer = attempt(() => handle(current, request), start);
    start.port.postMessage(answer);
    if (isFailedSync(answer)) waitForEnd();
    if (request === 'close') connection = undefined;
  }
  start.port.close();
}

await serve(workerData);
