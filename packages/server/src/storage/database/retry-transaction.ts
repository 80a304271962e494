import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, type TransactionBuilder } from 'kysely';
import { explainPostgresError } from './postgres-errors.ts';

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
