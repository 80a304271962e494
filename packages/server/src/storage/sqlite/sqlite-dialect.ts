import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { isThreadQuery } from '../database/sqlite-insert-many.ts';
import type { Place } from '../database/sqlite-protocol.ts';
import type { SqliteThread } from './sqlite-thread.ts';

/** A connection that one query or transaction uses exclusively until it releases it. */
interface ThreadConnection extends DatabaseConnection {
  readonly thread: SqliteThread;
  /** `asked`: BEGIN has been requested and is sent with the next statement, which saves a round trip. */
  transaction: 'none' | 'asked' | 'open';
}

function createConnection(thread: SqliteThread): ThreadConnection {
  const connection: ThreadConnection = {
    thread,
    transaction: 'none',
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const { sql, parameters } = query;
      const first = connection.transaction === 'asked';
      const place: Place = first ? 'first' : connection.transaction === 'open' ? 'inside' : 'alone';
      if (first) connection.transaction = 'open';
      const request = isThreadQuery(query) ? query.request : { sql, parameters };
      const { rows, changes } = await thread.send({ ...request, place });
      // Kysely's type R comes from the caller's query; SQLite does not check it.
      const result = { rows: rows as R[] };
      return changes === undefined ? result : { ...result, numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error('A SQLite query is not streamed: it would hold its connection; page by id instead.');
    },
  };
  return connection;
}

/** Further connections, opened when all others are in use. Each keeps a thread of 6 MB and its cache. */
export interface MoreThreads {
  readonly most: number;
  readonly open: () => Promise<SqliteThread>;
}

/** Lends each connection to one user at a time, in the order of the requests. */
function createPool(threads: readonly SqliteThread[], more?: MoreThreads) {
  const free = threads.map(createConnection);
  const queue: Array<(connection: ThreadConnection) => void> = [];
  let threadsLeft = more?.most ?? 0;

  function release(connection: ThreadConnection): void {
    const next = queue.shift();
    if (next === undefined) free.push(connection);
    else next(connection);
  }
  function openAnother(): void {
    if (more === undefined || threadsLeft === 0) return;
    threadsLeft--;
    // When the connection cannot be opened, waiting requests use the others. The next shortage tries to open it again.
    more.open().then(
      (thread) => release(createConnection(thread)),
      () => threadsLeft++,
    );
  }
  return {
    take(): Promise<ThreadConnection> {
      const connection = free.pop();
      if (connection !== undefined) return Promise.resolve(connection);
      openAnother();
      return new Promise((resolve) => queue.push(resolve));
    },
    release,
  };
}

function createDriver(threads: readonly SqliteThread[], more?: MoreThreads): Driver {
  const pool = createPool(threads, more);
  // Kysely passes the value that acquireConnection returned.
  const asThreadConnection = (connection: DatabaseConnection) => connection as ThreadConnection;
  return {
    async init() {},
    acquireConnection: () => pool.take(),
    async releaseConnection(connection) {
      pool.release(asThreadConnection(connection));
    },
    async beginTransaction(connection) {
      asThreadConnection(connection).transaction = 'asked';
    },
    async commitTransaction(connection) {
      const { thread, transaction } = asThreadConnection(connection);
      if (transaction === 'open') await thread.send('commit');
      asThreadConnection(connection).transaction = 'none';
    },
    async rollbackTransaction(connection) {
      const { thread, transaction } = asThreadConnection(connection);
      asThreadConnection(connection).transaction = 'none';
      if (transaction === 'open') await thread.send('rollback');
    },
    async destroy() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

/** Tells Kysely that SQLite rolls schema changes back with the transaction, and whether there are several connections. */
class ThreadedSqliteAdapter extends SqliteAdapter {
  readonly #isPool: boolean;
  constructor(isPool: boolean) {
    super();
    this.#isPool = isPool;
  }
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
  /** Kysely would otherwise lend one connection only. */
  override get supportsMultipleConnections(): boolean {
    return this.#isPool;
  }
}

/** Leaves out the locks of rows, which SQLite does not have: it runs one write transaction at a time. */
class LocklessQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    const isLock = node.modifier !== undefined && /^(?:For|SkipLocked)/.test(node.modifier);
    if (!isLock) super.visitSelectModifier(node);
  }
}

/** Sends statements to the given threads. With one thread, transactions run strictly one after another. */
export function createSqliteDialect(threads: readonly SqliteThread[], more?: MoreThreads): Dialect {
  return {
    createDriver: () => createDriver(threads, more),
    createQueryCompiler: () => new LocklessQueryCompiler(),
    createAdapter: () => new ThreadedSqliteAdapter(threads.length + (more?.most ?? 0) > 1),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
