import type { MessagePort } from 'node:worker_threads';

/** What a connection's thread is started with. `bell` is rung (increased, notified) after each request that is sent. */
export interface WorkerStart {
  readonly path: string;
  readonly readOnly: boolean;
  readonly port: MessagePort;
  readonly bell: Int32Array;
}

/**
 * Where a statement stands: on its own; the first of a transaction, which starts it; or further inside one, where it
 * is refused when SQLite has already rolled the transaction back by itself (a full disk does that).
 */
export type Place = 'alone' | 'first' | 'inside';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}
/** A statement that gives no rows, run once for each list of parameters. The answer's one row is `{ rowIds }`, in order. */
export interface ManyStatements {
  readonly sql: string;
  readonly lists: ReadonlyArray<readonly unknown[]>;
}
/** A statement that gives no rows, run once for each list of parameters; they come as JSON, an array of arrays. */
export interface JsonStatements {
  readonly sql: string;
  readonly rows: string;
}
export type Request = Statement | ManyStatements | JsonStatements;
export type PlacedRequest = Request & { readonly place: Place };
export type WorkerRequest = PlacedRequest | 'commit' | 'rollback' | 'close';

export interface StatementAnswer {
  readonly rows: readonly unknown[];
  /** Rows changed; absent where the statement gives rows. */
  readonly changes?: number;
}
export interface StatementFailure {
  readonly message: string;
  /** SQLite's extended result code; absent where SQLite was not the one who failed. */
  readonly resultCode?: number;
}
/**
 * SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC of sqlite3.h: pages that could not be synced may be gone from the page cache,
 * so a further sync would succeed without them.
 */
const failedSyncs: ReadonlySet<number | undefined> = new Set([1034, 1290]);
export function isFailedSync(answer: WorkerAnswer): boolean {
  return 'failure' in answer && failedSyncs.has(answer.failure.resultCode);
}
export type WorkerAnswer = StatementAnswer | { readonly failure: StatementFailure };
