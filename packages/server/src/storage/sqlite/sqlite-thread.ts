import { MessageChannel, Worker } from 'node:worker_threads';
import { Problem } from '../../platform/problem.ts';
import { moduleUrl } from '../../platform/server-process/module-path.ts';
import {
  databaseBusy,
  databaseFull,
  databaseNotAccessible,
  databaseReadOnly,
  databaseSyncFailed,
  databaseUnreadable,
} from '../database/problems.ts';
import {
  isFailedSync,
  type StatementAnswer,
  type StatementFailure,
  type WorkerAnswer,
  type WorkerRequest,
  type WorkerStart,
} from '../database/sqlite-protocol.ts';

/**
 * An error of SQLite. `code` is the name of the result code when the service uses it; otherwise the number, for example
 * `SQLITE_13`.
 */
export class SqliteError extends Error {
  readonly code: string;
  constructor({ message, resultCode }: StatementFailure) {
    super(message);
    this.name = 'SqliteError';
    this.code = resultCode === undefined ? 'SQLITE_ERROR' : (resultNames.get(resultCode) ?? `SQLITE_${resultCode}`);
  }
}

/** From sqlite3.h. */
const resultNames = new Map([
  [1, 'SQLITE_ERROR'],
  [5, 'SQLITE_BUSY'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [26, 'SQLITE_NOTADB'],
  [267, 'SQLITE_CORRUPT_VTAB'],
  [523, 'SQLITE_CORRUPT_SEQUENCE'],
  [779, 'SQLITE_CORRUPT_INDEX'],
  [787, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
  [1299, 'SQLITE_CONSTRAINT_NOTNULL'],
  [1555, 'SQLITE_CONSTRAINT_PRIMARYKEY'],
  [2067, 'SQLITE_CONSTRAINT_UNIQUE'],
  [2579, 'SQLITE_CONSTRAINT_ROWID'],
]);

/** By the primary codes of sqlite3.h, the last byte of every extended code. Other codes indicate defects. */
const problems = new Map([
  [5, databaseBusy],
  [8, databaseReadOnly],
  [10, databaseNotAccessible],
  [11, databaseUnreadable],
  [13, databaseFull],
  [14, databaseNotAccessible],
  [26, databaseUnreadable],
]);

function toError(failure: StatementFailure): Error {
  const error = new SqliteError(failure);
  return problems.get((failure.resultCode ?? 0) & 0xff)?.(error) ?? error;
}

/** One SQLite connection in its own thread. Requests are answered in the order in which they are sent. */
export interface SqliteThread {
  send(request: WorkerRequest): Promise<StatementAnswer>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: StatementAnswer): void;
  reject(error: Error): void;
}

/** MiB of heap. A result that needs more ends this thread instead of the whole process. */
const mostMemory = 1024;

export interface ThreadOptions {
  readonly readOnly: boolean;
  /** MiB of heap. */
  readonly memory?: number;
  /** Bytes of the search index that the thread caches at most. */
  readonly searchCacheBytes?: number | undefined;
}

/** @throws when the file cannot be opened, or SQLite does not use the required mode */
export async function openSqliteThread(
  path: string,
  { readOnly, memory = mostMemory, searchCacheBytes }: ThreadOptions,
): Promise<SqliteThread> {
  const { port1: ownPort, port2: theirs } = new MessageChannel();
  const requestSignal = new Int32Array(new SharedArrayBuffer(4));
  const workerData: WorkerStart = {
    path,
    readOnly,
    port: theirs,
    requestSignal,
    ...(searchCacheBytes === undefined ? {} : { searchCacheBytes }),
  };
  const resourceLimits = { maxOldGenerationSizeMb: memory };
  const options = {
    workerData,
    transferList: [theirs],
    resourceLimits,
    name: readOnly ? 'sqlite-reader' : 'sqlite-writer',
  };
  const worker = new Worker(moduleUrl(import.meta, './sqlite-worker'), options);
  const waiting: Waiting[] = [];
  let failure: Error | undefined;
  let closing: Promise<void> | undefined;

  function end(reason: Error): void {
    failure ??= reason;
    ownPort.close();
    for (const each of waiting.splice(0)) each.reject(failure);
  }
  function receive(answer: WorkerAnswer): void {
    const first = waiting.shift();
    // Deliberately not caught. The error ends the process and all waiting requests.
    if (isFailedSync(answer)) throw databaseSyncFailed(path, answer);
    if ('failure' in answer) first?.reject(toError(answer.failure));
    else first?.resolve(answer);
  }
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end(new Error('The database connection is closed.'));
      resolve();
    });
  });
  worker.once('error', (cause) => end(new Error('The thread of the database has ended.', { cause })));
  ownPort.on('message', receive);

  function wait(): Promise<StatementAnswer> {
    return new Promise((resolve, reject) => {
      if (failure === undefined) waiting.push({ resolve, reject });
      else reject(failure);
    });
  }
  async function send(request: WorkerRequest): Promise<StatementAnswer> {
    if (failure === undefined) ownPort.postMessage(request);
    const answer = wait();
    Atomics.add(requestSignal, 0, 1);
    Atomics.notify(requestSignal, 0);
    return answer;
  }
  async function closeOnce(): Promise<void> {
    // The thread may end before its answer arrives, which also counts as closed.
    if (failure === undefined)
      await send('close').catch((error) => {
        if (error !== failure) throw error;
      });
    await exited;
  }

  try {
    await wait();
  } catch (cause) {
    await exited;
    const original = cause instanceof Problem ? cause.cause : cause;
    const reason = original instanceof Error ? original.message : String(original);
    throw new Error(`The database ${path} could not be opened: ${reason}`, { cause });
  }
  return {
    send,
    close: () => {
      closing ??= closeOnce();
      return closing;
    },
  };
}
