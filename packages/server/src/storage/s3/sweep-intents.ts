import type { Logger } from '../../platform/log/logger.ts';
import type { BlobIntents } from '../repositories/blob-intents.ts';
import { eraseBlob, keyOf } from './s3-blob-store.ts';
import type { S3Objects } from './s3-objects.ts';

export interface SweepIntentsDeps {
  readonly intents: BlobIntents;
  readonly objects: Pick<S3Objects, 'abortUploads' | 'remove'>;
  readonly logger: Pick<Logger, 'error'>;
  /** Milliseconds for which the bytes of deleted files stay, because backups name them. */
  readonly keepDeleted: number;
  /** Milliseconds after which an upload that has not ended is given up. */
  readonly grace?: number;
  /** Milliseconds after which erased bytes are erased once more, because a request may arrive late. */
  readonly lateness?: number;
}

const [hour, day, batch] = [3_600_000, 24 * 3_600_000, 500];

/**
 * Erases the bytes of uploads that ended without a row, and of deleted files after the configured days. The update of the intents
 * excludes the transaction that adds the row. An upload that continues after it fails.
 * @returns the number of erased blobs of uploads
 */
export async function sweepIntents(
  { intents, objects, logger, keepDeleted, grace = hour, lateness = day }: SweepIntentsDeps,
  signal?: AbortSignal,
): Promise<number> {
  async function eraseAll(blobIds: readonly string[], mayBeUnfinished: boolean): Promise<string[]> {
    const erased: string[] = [];
    for (const blobId of blobIds) {
      signal?.throwIfAborted();
      try {
        if (mayBeUnfinished) await objects.abortUploads(keyOf(blobId));
        await eraseBlob(objects, blobId);
        erased.push(blobId);
      } catch (error) {
        logger.error({ err: error, blob_id: blobId }, 'unused object not erased');
      }
    }
    return erased;
  }

  await intents.abandon(grace);
  let count = 0;
  for (const [state, olderThan] of [
    ['abandoned', 0],
    ['erased', lateness],
    ['deleted', keepDeleted],
  ] as const) {
    for (;;) {
      const found = await intents.list(state, olderThan, batch);
      const erased = await eraseAll(found, state !== 'deleted');
      if (erased.length > 0) await (state === 'abandoned' ? intents.markErased(erased) : intents.forget(state, erased));
      if (state === 'abandoned') count += erased.length;
      // What failed is tried again at the next sweep.
      if (found.length < batch || erased.length < found.length) break;
    }
  }
  return count;
}
