import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { SnapshotBlob } from '../../../platform/database-snapshot.ts';
import { BlobMissing, type BlobStore, type ByteRange, type OpenedBlob } from '../blob-store.ts';
import { StoredContentDamaged } from '../file-access.ts';
import type { ReportDamage } from './report-damage.ts';

export interface VerifiedContentDeps {
  readonly blobs: Pick<BlobStore, 'open' | 'size'>;
  readonly reportDamage: ReportDamage;
}

export type ExpectedContent = Omit<SnapshotBlob, 'files'>;

/**
 * Checks that the stored length equals that of the row.
 * @throws SERVICE_UNAVAILABLE when it differs, and {@link BlobMissing} when the file was deleted or replaced in the meantime
 */
export async function checkLength(deps: VerifiedContentDeps, expected: ExpectedContent): Promise<void> {
  const found = await deps.blobs.size(expected.blobId);
  if (found === expected.bytes) return;
  const isLive = await deps.reportDamage(expected, found === undefined ? 'missing' : 'size_differs');
  throw isLive ? new StoredContentDamaged() : new BlobMissing(expected.blobId);
}

/**
 * Opens stored bytes. Their length equals that of the row.
 * @throws as {@link checkLength}
 */
export async function openStored(
  deps: VerifiedContentDeps,
  expected: ExpectedContent,
  range?: ByteRange,
): Promise<OpenedBlob> {
  const stored = await deps.blobs.open(expected.blobId, range).catch((error: unknown) => {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  });
  if (stored?.blobBytes === expected.bytes) return stored;
  stored?.destroy();
  // Tells missing bytes from a storage that is not available, and records damage.
  await checkLength(deps, expected);
  throw new BlobMissing(expected.blobId);
}

/** Reads all stored bytes and verifies them as {@link readVerified} does. */
export async function* readStored(deps: VerifiedContentDeps, expected: ExpectedContent): AsyncGenerator<Buffer> {
  yield* readVerified(deps, expected, await openStored(deps, expected));
}

/**
 * Streams all bytes and hashes them. The last block is sent only when the hash matches the row, so that no client
 * accepts wrong bytes as a complete file.
 */
export async function* readVerified(
  deps: VerifiedContentDeps,
  expected: ExpectedContent,
  stored: Readable | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const block of stored as AsyncIterable<Buffer>) {
    hash.update(block);
    if (held !== undefined) yield held;
    held = block;
  }
  if (hash.digest('hex') !== expected.sha256) {
    await deps.reportDamage(expected, 'content_differs');
    throw new StoredContentDamaged();
  }
  if (held !== undefined) yield held;
}
