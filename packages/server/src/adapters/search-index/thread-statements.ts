/** The statements of a connection, which run in its thread. */
export interface ThreadStatements {
  all<Row>(sql: string, ...values: ThreadValue[]): Row[];
  /** @returns the id of the inserted row */
  run(sql: string, ...values: ThreadValue[]): number;
}
export type ThreadValue = string | number | null | Uint8Array;
