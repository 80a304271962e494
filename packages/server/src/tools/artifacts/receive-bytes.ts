import type { CommonDeps } from '../../platform/common-deps.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { discardStaged } from '../../stores/files/commit-files.ts';
import type { Content } from './add-artifacts.ts';

/** Bytes that are written and that belong to no artifact yet. */
export interface WrittenBytes {
  /** The first bytes, at most 64. */
  readonly head: Buffer;
  /** Whether these are all bytes. */
  readonly isComplete: boolean;
  readonly commit: Content['commit'];
  discard(): Promise<void>;
}

export interface ReceiveBytesDeps extends Pick<CommonDeps, 'logger' | 'newId'> {
  readonly blobs: Pick<BlobStore, 'checkRoom' | 'stage'>;
}

/** A format is known by its first bytes, and a picture needs no more of them. */
const headBytes = 64;

/**
 * Writes bytes while they arrive, at most `maxBytes`, without holding them in memory. Ends early when the source breaks off. Never
 * rejects.
 * @returns null when there are no bytes, or they cannot be written
 */
export async function receiveBytes(
  { blobs, newId, logger }: ReceiveBytesDeps,
  body: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<WrittenBytes | null> {
  const blob = blobs.stage(newId('blob'));
  const discard = () => discardStaged(logger, blob);
  try {
    await blobs.checkRoom();
    let head: Buffer = Buffer.alloc(0);
    let bytes = 0;
    const isComplete = await consume(body, logger, async (chunk) => {
      const taken = chunk.subarray(0, maxBytes - bytes);
      if (head.length < headBytes) head = Buffer.concat([head, taken]).subarray(0, headBytes);
      bytes += taken.length;
      // A copy, because the store frees the memory of what it writes.
      if (taken.length > 0) await blob.append(Buffer.from(taken));
      return taken.length === chunk.length;
    });
    if (bytes === 0) {
      await discard();
      return null;
    }
    const digest = await blob.finish();
    const commit = async () => {
      await blob.commit();
      return { blobId: blob.blobId, ...digest };
    };
    return { head, isComplete, commit, discard };
  } catch (error) {
    await discard();
    logger.warn({ err: error }, 'large answer not stored');
    return null;
  }
}

/** A source that breaks off ends the bytes. A failure of the disk is thrown. @returns whether all bytes were taken */
async function consume(
  body: AsyncIterable<Buffer>,
  logger: Logger,
  take: (chunk: Buffer) => Promise<boolean>,
): Promise<boolean> {
  const source = body[Symbol.asyncIterator]();
  const next = async () => {
    try {
      return await source.next();
    } catch (error) {
      logger.debug({ err: error }, 'large answer broke off');
      return null;
    }
  };
  for (let step = await next(); step?.done !== true; step = await next()) {
    if (step === null) return false;
    if (await take(step.value)) continue;
    await source.return?.();
    return false;
  }
  return true;
}
