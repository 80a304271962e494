import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Milliseconds for which a success holds. */
const validMs = 1_000;

/**
 * Proves that a commit succeeds, by one of a row that is there for it: a full or damaged disk, or a server that takes no writes,
 * still answers reads. Never two at once, and none for a second after one has succeeded, however often it is asked.
 */
export function createCommitCheck(db: Kysely<Tables>): () => Promise<void> {
  let checking: Promise<void> | undefined;
  let succeededAt = Number.NEGATIVE_INFINITY;

  async function commit(): Promise<void> {
    const startedAt = performance.now();
    await db
      .updateTable('commit_check')
      .set((row) => ({ checks: row('checks', '+', 1) }))
      .where('id', '=', 1)
      .execute();
    succeededAt = startedAt;
  }
  return async () => {
    if (checking === undefined && performance.now() - succeededAt < validMs) return;
    checking ??= commit().finally(() => {
      checking = undefined;
    });
    await checking;
  };
}
