/** The statements of a connection, which run in its thread. */
export interface ThreadStatements {
  all<Row>(sql: string, ...values: ThreadValue[]): Row[];
  /** Returns the values of each row in the order of the columns. */
  lists(sql: string, ...values: ThreadValue[]): ThreadValue[][];
  /** @returns the id of the inserted row */
  run(sql: string, ...values: ThreadValue[]): number;
}
export type ThreadValue = string | number | null | Uint8Array;
