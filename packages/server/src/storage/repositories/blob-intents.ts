import type { Kysely } from 'kysely';
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts';
import type { Database } from '../database/database.ts';
import { databaseNow } from '../database/like-pattern.ts';
import type { Tables } from '../database/tables.ts';

/**
 * The blobs that may exist without a row, because their upload has not ended. `open`: the upload may still add the row, which
 * deletes the intent. `abandoned`: no upload can add the row any more, so the bytes can be erased. `erased`: they were erased, and
 * will be once more, because a request may arrive late.
 */
export interface BlobIntents {
  /** Rejects when the intent is not stored. Calls at the same time share a transaction. */
  add(blobId: string): Promise<void>;
  /** Abandons open intents that are older, by the clock of the database. */
  abandon(olderThanMs: number): Promise<void>;
  /** Returns abandoned intents, or intents whose bytes were erased longer ago than this. */
  list(state: 'abandoned' | 'erased', olderThanMs: number, limit: number): Promise<readonly string[]>;
  markErased(blobIds: readonly string[]): Promise<void>;
  forget(blobIds: readonly string[]): Promise<void>;
}

const largestGroup = 256;

/**
 * Deletes the intents of blobs that get rows in the same transaction.
 * @returns the blobs that the sweep has given up. They must not get rows
 */
export async function closeIntents(
  transaction: Kysely<Tables>,
  files: ReadonlyArray<{ readonly file: { readonly blobId: string } }>,
): Promise<ReadonlySet<string>> {
  const blobIds = files.map(({ file }) => file.blobId);
  const closed = await transaction
    .deleteFrom('blob_intent')
    .where('blob_id', 'in', blobIds)
    .where('state', '=', 'open')
    .returning('blob_id')
    .execute();
  const open = new Set(closed.map((row) => row.blob_id));
  return new Set(blobIds.filter((blobId) => !open.has(blobId)));
}

export async function openIntents(
  { transaction, dialect }: { readonly transaction: Kysely<Tables>; readonly dialect: Database['dialect'] },
  blobIds: readonly string[],
): Promise<void> {
  const changed = { state: 'open' as const, changed_at: databaseNow(dialect) };
  const rows = blobIds.map((blobId) => ({ blob_id: blobId, ...changed }));
  await transaction.insertInto('blob_intent').values(rows).execute();
}

export function createBlobIntents({ dialect, read, write }: Database): BlobIntents {
  const now = databaseNow(dialect);
  const added = createGroupCommit<string, undefined>(async (blobIds) => {
    await openIntents({ transaction: write, dialect }, blobIds);
    return blobIds.map(() => undefined);
  }, largestGroup);
  return {
    add: added.add,
    async abandon(olderThanMs) {
      await write
        .updateTable('blob_intent')
        .set({ state: 'abandoned', changed_at: now })
        .where('state', '=', 'open')
        .where(({ eb }) => eb(eb('changed_at', '+', olderThanMs), '<', now))
        .execute();
    },
    async list(state, olderThanMs, limit) {
      const rows = await read
        .selectFrom('blob_intent')
        .select('blob_id')
        .where('state', '=', state)
        .where(({ eb }) => eb(eb('changed_at', '+', olderThanMs), '<=', now))
        .orderBy('blob_id')
        .limit(limit)
        .execute();
      return rows.map((row) => row.blob_id);
    },
    async markErased(blobIds) {
      await write
        .updateTable('blob_intent')
        .set({ state: 'erased', changed_at: now })
        .where('blob_id', 'in', blobIds)
        .execute();
    },
    async forget(blobIds) {
      await write.deleteFrom('blob_intent').where('blob_id', 'in', blobIds).where('state', '=', 'erased').execute();
    },
  };
}
