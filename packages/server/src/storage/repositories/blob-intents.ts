import type { Kysely } from 'kysely';
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts';
import type { Database } from '../database/database.ts';
import { databaseNow } from '../database/like-pattern.ts';
import type { Tables } from '../database/tables.ts';

/**
 * The objects that may exist without a row. `open`: their upload may still add the row, which deletes the intent. `abandoned`: no
 * upload can add the row any more, so the bytes can be erased. `erased`: they were erased, and will be once more, because a request
 * may arrive late. `deleted`: their file was deleted, and backups may name them, so the bytes stay for the configured days.
 */
export interface BlobIntents {
  /** Rejects when the intent is not stored. Calls at the same time share a transaction. */
  add(blobId: string): Promise<void>;
  /** Makes an open intent new again, because its upload takes long. */
  renew(blobId: string): Promise<void>;
  /** Abandons open intents that are older, by the clock of the database. */
  abandon(olderThanMs: number): Promise<void>;
  /**
   * Records that no file has the bytes any more: as `abandoned` after an upload that added no row, otherwise as `deleted`. Has no
   * effect on a deleted blob. Calls at the same time share a statement.
   */
  discard(blobId: string): Promise<void>;
  /** Records all blobs with an intent as deleted now. The uploads of a restored database have ended, and later backups may name them. */
  keepAll(): Promise<void>;
  /** Returns the blobs that have been in this state for longer than this, by the clock of the database. */
  list(state: Ended, olderThanMs: number, limit: number): Promise<readonly string[]>;
  markErased(blobIds: readonly string[]): Promise<void>;
  /** Deletes the intents that are in this state. */
  forget(state: Ended, blobIds: readonly string[]): Promise<void>;
}

type Ended = 'abandoned' | 'erased' | 'deleted';

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
  const discarded = createGroupCommit<string, undefined>(async (blobIds) => {
    const rows = [...new Set(blobIds)].map((blob_id) => ({ blob_id, state: 'deleted' as const, changed_at: now }));
    await write
      .insertInto('blob_intent')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('blob_id')
          .doUpdateSet({ state: 'abandoned', changed_at: now })
          .where('blob_intent.state', '=', 'open'),
      )
      .execute();
    return blobIds.map(() => undefined);
  }, largestGroup);
  return {
    add: added.add,
    discard: discarded.add,
    async renew(blobId) {
      const open = write.updateTable('blob_intent').where('blob_id', '=', blobId).where('state', '=', 'open');
      await open.set({ changed_at: now }).execute();
    },
    async keepAll() {
      await write
        .updateTable('blob_intent')
        .set({ state: 'deleted', changed_at: now })
        .where('state', '<>', 'deleted')
        .execute();
    },
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
    async forget(state, blobIds) {
      await write.deleteFrom('blob_intent').where('blob_id', 'in', blobIds).where('state', '=', state).execute();
    },
  };
}
