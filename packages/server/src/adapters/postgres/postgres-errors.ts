import pg from 'pg';
import type { Problem } from '../../kernel/problem.ts';
import { databaseBusy, databaseFull, databaseReadOnly, databaseUnreachable } from '../database/problems.ts';

/** What a failure of PostgreSQL means for the caller, the connection and the pool. */
export interface PostgresFailure {
  /** The error for the caller; undefined: a defect of the service, thrown unchanged. */
  readonly problem?: Problem;
  /** The transaction was rolled back because of other transactions; a retry may succeed. */
  readonly retry?: true;
  /** `broken`: no further statement may be sent. `discard`: the connection is closed when it is released. */
  readonly connection?: 'broken' | 'discard';
  /** The server refused the connection because it has too many. */
  readonly refused?: true;
}

type Explain = (error: unknown) => PostgresFailure;

const unreachable: Explain = (error) => ({ problem: databaseUnreachable(error), connection: 'broken' });
const busy: Explain = (error) => ({ problem: databaseBusy(error) });

/** By SQLSTATE (PostgreSQL manual, appendix A) or its class; the first that matches decides. */
const table: ReadonlyArray<readonly [state: RegExp, explain: Explain]> = [
  // A serialization failure; a deadlock.
  [/^(40001|40P01)$/, (error) => ({ problem: databaseBusy(error), retry: true })],
  // A read-only transaction: the server has become a standby, or was made read-only.
  [/^25006$/, (error) => ({ problem: databaseReadOnly(error), connection: 'discard' })],
  // The disk of the server is full.
  [/^53100$/, (error) => ({ problem: databaseFull(error) })],
  [/^53300$/, (error) => ({ problem: databaseUnreachable(error), connection: 'broken', refused: true })],
  // Memory or another limit of the server; a lock or statement timeout; an I/O error; an unknown outcome.
  [/^(53...|55P03|57014|58030|40003)$/, busy],
  // Connections; a server that stops, has crashed or starts; a session that was idle for too long.
  [/^(08...|57P0[1-5]|25P03)$/, unreachable],
];

/** Maps PostgreSQL's errors to their meaning for the service; no other module does. */
export function explainPostgresError(error: unknown): PostgresFailure {
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error;
    return table.find(([state]) => state.test(code))?.[1](error) ?? {};
  }
  // An error that does not come from the server concerns the connection, unless the driver was called wrongly.
  const isMistake = !(error instanceof Error) || error instanceof TypeError || error instanceof RangeError;
  return isMistake ? {} : unreachable(error);
}
