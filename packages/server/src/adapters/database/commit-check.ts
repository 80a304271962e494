import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Milliseconds for which a success holds. */
const validMs = 1_000;

/**
 * Commits a change of a row that exists for this check. A full or damaged disk, or a read-only server,
 * still answers reads. Never runs twice at once, and not within a second after a success.
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
