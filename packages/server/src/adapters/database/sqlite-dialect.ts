import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqliteThread } from './sqlite-thread.ts';

/** A connection that a query or a transaction has for itself until it gives it back. */
interface ThreadConnection extends DatabaseConnection {
  readonly thread: SqliteThread;
  /** `asked`: BEGIN is wanted and travels with the next statement, which saves a round trip. */
  transaction: 'none' | 'asked' | 'open';
}

function createConnection(thread: SqliteThread): ThreadConnection {
  const connection: ThreadConnection = {
    thread,
    transaction: 'none',
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const first = connection.transaction === 'asked';
      const place = first ? 'first' : connection.transaction === 'open' ? 'inside' : 'alone';
      if (first) connection.transaction = 'open';
      const { rows, changes } = await thread.send({ sql, parameters, place });
      // Kysely's R is what the caller's query says the rows are; SQLite knows nothing of it.
      const result = { rows: rows as R[] };
      return changes === undefined ? result : { ...result, numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error('A SQLite query is not streamed: it would hold its connection; page by id instead.');
    },
  };
  return connection;
}

/** Lends each connection to one at a time, in the order of asking. */
function createPool(threads: readonly SqliteThread[]) {
  const free = threads.map(createConnection);
  const queue: Array<(connection: ThreadConnection) => void> = [];
  return {
    take(): Promise<ThreadConnection> {
      const connection = free.pop();
      if (connection !== undefined) return Promise.resolve(connection);
      return new Promise((resolve) => queue.push(resolve));
    },
    giveBack(connection: ThreadConnection): void {
      const next = queue.shift();
      if (next === undefined) free.push(connection);
      else next(connection);
    },
  };
}

function createDriver(threads: readonly SqliteThread[]): Driver {
  const pool = createPool(threads);
  // Kysely hands back what acquireConnection gave.
  const ours = (connection: DatabaseConnection) => connection as ThreadConnection;
  return {
    async init() {},
    acquireConnection: () => pool.take(),
    async releaseConnection(connection) {
      pool.giveBack(ours(connection));
    },
    async beginTransaction(connection) {
      ours(connection).transaction = 'asked';
    },
    async commitTransaction(connection) {
      const { thread, transaction } = ours(connection);
      if (transaction === 'open') await thread.send('commit');
      ours(connection).transaction = 'none';
    },
    async rollbackTransaction(connection) {
      const { thread, transaction } = ours(connection);
      ours(connection).transaction = 'none';
      if (transaction === 'open') await thread.send('rollback');
    },
    async destroy() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

/** SQLite undoes its schema changes with the transaction, which Kysely does not assume. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Sends statements to the given threads. With one thread its transactions run strictly one after another. */
export function createSqliteDialect(threads: readonly SqliteThread[]): Dialect {
  return {
    createDriver: () => createDriver(threads),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
