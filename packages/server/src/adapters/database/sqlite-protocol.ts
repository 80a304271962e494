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

export interface StatementRequest {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly place: Place;
}
/** A statement that gives no rows, run once for each list of parameters. The answer's one row is `{ rowIds }`, in order. */
export interface ManyRequest extends Omit<StatementRequest, 'parameters'> {
  readonly lists: ReadonlyArray<readonly unknown[]>;
}
export type WorkerRequest = StatementRequest | ManyRequest | 'commit' | 'rollback' | 'close';

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
export type WorkerAnswer = StatementAnswer | { readonly failure: StatementFailure };
