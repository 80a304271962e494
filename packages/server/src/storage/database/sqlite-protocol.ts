import type { MessagePort } from 'node:worker_threads';

/** The start data of a connection's thread. `bell` is increased and notified after each request. */
export interface WorkerStart {
  readonly path: string;
  readonly readOnly: boolean;
  /** Bytes of the search index that the thread caches at most. */
  readonly searchCacheBytes?: number;
  readonly port: MessagePort;
  readonly requestSignal: Int32Array;
}

/**
 * The position of a statement: alone, first in a transaction, which it starts, or inside one. Inside one it is refused
 * when SQLite has already rolled the transaction back, for example because of a full disk.
 */
export type Place = 'alone' | 'first' | 'inside';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}
/** A statement without result rows, run once per list of parameters. The answer has one row, `{ rowIds }`, in order. */
export interface ManyStatements {
  readonly sql: string;
  readonly lists: ReadonlyArray<readonly unknown[]>;
}
/** A statement without result rows, run once per list of parameters. The lists are JSON, an array of arrays. */
export interface JsonStatements {
  readonly sql: string;
  readonly rows: string;
}
/** A procedure of `search-index/thread-procedures.ts`. The answer has one row, its result. */
export interface ProcedureCall {
  readonly procedure: string;
  readonly argument: unknown;
}
export type Request = Statement | ManyStatements | JsonStatements | ProcedureCall;
export type PlacedRequest = Request & { readonly place: Place };
export type WorkerRequest = PlacedRequest | 'commit' | 'rollback' | 'close';

export interface StatementAnswer {
  readonly rows: readonly unknown[];
  /** Number of changed rows; absent for statements that return rows. */
  readonly changes?: number;
}
export interface StatementFailure {
  readonly message: string;
  /** SQLite's extended result code; absent when SQLite did not cause the failure. */
  readonly resultCode?: number;
}
/**
 * SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC of sqlite3.h. Pages that could not be synced may be gone from the page
 * cache, so a further sync would succeed without them.
 */
const failedSyncs: ReadonlySet<number | undefined> = new Set([1034, 1290]);
export function isFailedSync(answer: WorkerAnswer): boolean {
  return 'failure' in answer && failedSyncs.has(answer.failure.resultCode);
}
export type WorkerAnswer = StatementAnswer | { readonly failure: StatementFailure };
