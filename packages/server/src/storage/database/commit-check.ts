import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** A success stays valid for this many milliseconds. */
const validMs = 1_000;

/**
 * Commits a change of a row that exists for this check, because a full or damaged disk and a read-only server still
 * answer reads. Concurrent callers share one commit. A success is reused for one second.
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
