import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, type TransactionBuilder } from 'kysely';
import { explainPostgresError } from '../postgres/postgres-errors.ts';

/** Times that a statement or transaction is run again after a serialization failure or a deadlock. */
export const retriesOfStatement = 3;
const longestPauseMs = 50;

/** Milliseconds; random, so that two conflicting transactions do not collide again. */
export const retryPause = () => 1 + Math.random() * longestPauseMs;

/**
 * A handle on PostgreSQL whose transactions are READ COMMITTED whatever the role's default is, and are run again after a
 * serialization failure or a deadlock. So whatever runs inside a transaction must be safe to run twice.
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
