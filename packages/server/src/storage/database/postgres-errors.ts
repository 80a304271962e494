import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, type TransactionBuilder } from 'kysely';
import pg from 'pg';
import type { Problem } from '../../platform/problem.ts';
import {
  databaseBusy,
  databaseFull,
  databaseReadOnly,
  databaseUnreachable,
  postgresLoginRefused,
  postgresUnreachable,
} from './problems.ts';

/** The meaning of a PostgreSQL failure for the caller, the connection and the pool. */
export interface PostgresFailure {
  /** The error for the caller; undefined for a defect of the service, which is thrown unchanged. */
  readonly problem?: Problem;
  /** Other transactions caused a rollback, so a retry may succeed. */
  readonly retry?: true;
  /** `broken`: no further statement may be sent. `discard`: the connection is closed at its release. */
  readonly connection?: 'broken' | 'discard';
  /** The server refused the connection because it has too many. */
  readonly refused?: true;
}

type Explain = (error: unknown) => PostgresFailure;

const unreachable: Explain = (error) => ({ problem: databaseUnreachable(error), connection: 'broken' });
const busy: Explain = (error) => ({ problem: databaseBusy(error) });

/** By SQLSTATE (PostgreSQL manual, appendix A) or its class. The first match decides. */
const table: ReadonlyArray<readonly [state: RegExp, explain: Explain]> = [
  // A serialization failure; a deadlock.
  [/^(40001|40P01)$/, (error) => ({ problem: databaseBusy(error), retry: true })],
  // A read-only transaction: the server has become a standby, or was made read-only.
  [/^25006$/, (error) => ({ problem: databaseReadOnly(error), connection: 'discard' })],
  // The server's disk is full.
  [/^53100$/, (error) => ({ problem: databaseFull(error) })],
  [/^53300$/, (error) => ({ problem: databaseUnreachable(error), connection: 'broken', refused: true })],
  // The server ran out of memory or reached another limit, a lock or statement timed out, I/O failed, or the outcome is
  // unknown.
  [/^(53...|55P03|57014|58030|40003)$/, busy],
  // The connection failed, the server stops, crashed or starts, or the session was idle for too long.
  [/^(08...|57P0[1-5]|25P03)$/, unreachable],
];

/** SQLSTATEs of a user, a password or a database that the server does not accept. */
const loginStates = /^(28...|3D000)$/;

/**
 * Describes to the operator why the service or a command cannot connect.
 * @returns undefined when the error does not concern the connection
 */
export function explainFailedConnection(error: unknown): Error | undefined {
  const { message, code } = error as { message?: string; code?: string }; // an error of the driver, or of the system
  const reason = message || String(code);
  if (error instanceof pg.DatabaseError && loginStates.test(code ?? '')) return postgresLoginRefused(reason, error);
  return explainPostgresError(error).connection === 'broken' ? postgresUnreachable(reason, error) : undefined;
}

/** Maps PostgreSQL's errors to their meaning for the service. No other module does this. */
export function explainPostgresError(error: unknown): PostgresFailure {
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error;
    return table.find(([state]) => state.test(code))?.[1](error) ?? {};
  }
  // An error that does not come from the server concerns the connection, unless the service called the driver
  // incorrectly.
  const isProgrammingError = !(error instanceof Error) || error instanceof TypeError || error instanceof RangeError;
  return isProgrammingError ? {} : unreachable(error);
}

/** The number of retries of a statement or transaction after a serialization failure or a deadlock. */
export const retriesOfStatement = 3;
const longestPauseMs = 50;

/** Returns milliseconds. They are random, so that two conflicting transactions do not collide again. */
export const retryPause = () => 1 + Math.random() * longestPauseMs;

/**
 * A handle on PostgreSQL. Its transactions are READ COMMITTED, whatever default the role has. They are retried after a
 * serialization failure or a deadlock, so code inside a transaction must be safe to run twice.
 */
export class RetryingKysely<Tables> extends Kysely<Tables> {
  override transaction(): TransactionBuilder<Tables> {
    const builder = super.transaction().setIsolationLevel('read committed');
    const executeOnce = builder.execute.bind(builder);
    builder.execute = async (work) => {
      for (let retriesLeft = retriesOfStatement; ; retriesLeft -= 1) {
        try {
          return await executeOnce(work);
        } catch (error) {
          const { retry, problem } = explainPostgresError(error);
          if (!retry) throw error;
          if (retriesLeft === 0) throw problem;
          await pause(retryPause());
        }
      }
    };
    return builder;
  }
}
