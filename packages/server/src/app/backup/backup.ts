import { mapWithConcurrency } from '../../platform/concurrency/map-with-concurrency.ts';
import type { DatabaseSnapshot, NamedFile, SnapshotBlob } from '../../platform/database-snapshot.ts';
import { type BlobDigest, BlobMissing, BlobUnreadable } from '../../stores/files/blob-store.ts';
import { type BlobTotals, readBlobList, writeBlobList } from './blob-list.ts';
import { deletedTooFast } from './problems.ts';

export interface CopyDeps {
  readonly source: { open(blobId: string): Promise<AsyncIterable<Uint8Array>> };
  readonly copy: {
    size(blobId: string): Promise<number | undefined>;
    list(): AsyncIterable<{ readonly blobId: string }>;
    remove(blobId: string): Promise<void>;
    write(blobId: string, content: AsyncIterable<Uint8Array>): Promise<BlobDigest>;
  };
  /** The path of the list of blobs. */
  readonly listFile: string;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface BackupDeps extends CopyDeps {
  /** Copies the database into the backup and replaces an earlier copy. */
  readonly takeSnapshot: () => Promise<DatabaseSnapshot>;
}

/** The progress of copying blobs. Blobs that an earlier round copied count from the start. */
export interface CopyProgress extends BlobTotals {
  readonly blobsDone: number;
  readonly bytesDone: number;
}

/** A damaged file of the store. The backup still contains the rest of the store. */
export interface BackupFault {
  /** `content_differs`: the damaged bytes were copied unchanged. `unreadable`: the disk cannot read them. */
  readonly kind: 'bytes_missing' | 'content_differs' | 'unreadable';
  readonly blobId: string;
  readonly projectId: string;
  /** Some of the files that have this content. */
  readonly files: readonly NamedFile[];
}

export interface CopyReport extends BlobTotals {
  readonly faults: readonly BackupFault[];
}

/** Each round copies only new blobs. Several rounds are needed only if files are deleted continuously. */
const mostRounds = 20;
const copiesAtOnce = 8;

/**
 * Copies the database, then the bytes that it refers to. The snapshot is closed before the first byte is copied.
 * Missing bytes then belong to files deleted in the meantime, which a newer copy of the database no longer lists. Rounds
 * therefore repeat until nothing is missing, or until the same blobs are missing twice. Nothing is locked. Source: ADR
 * 0058, 0069.
 */
export async function copyStore(deps: BackupDeps): Promise<CopyReport> {
  let missing: ReadonlySet<string> = new Set();
  const damaged = new Set<string>();
  for (let round = 1; round <= mostRounds; round++) {
    const snapshot = await deps.takeSnapshot();
    let totals: BlobTotals;
    try {
      totals = await writeBlobList(deps.listFile, snapshot);
    } finally {
      await snapshot.close();
    }
    const { named, faults } = await copyBlobs(deps, totals, damaged);
    const lost = faults.filter(({ kind }) => kind === 'bytes_missing').map(({ blobId }) => blobId);
    if (lost.every((blobId) => missing.has(blobId))) {
      await removeOthers(deps.copy, named);
      return { ...totals, faults };
    }
    missing = new Set(lost);
  }
  throw deletedTooFast(mostRounds);
}

/** Copies every blob of the list. @param damaged blobs that are recorded as damaged */
export async function copyBlobs(
  deps: CopyDeps,
  totals: BlobTotals,
  damaged: Set<string> = new Set(),
): Promise<{ readonly named: ReadonlySet<string>; readonly faults: readonly BackupFault[] }> {
  const named = new Set<string>();
  const faults: BackupFault[] = [];
  let [blobsDone, bytesDone] = [0, 0];
  const advance = (blobs: number, bytes: number) => {
    blobsDone += blobs;
    bytesDone += bytes;
    deps.onProgress?.({ ...totals, blobsDone, bytesDone });
  };
  for await (const blobs of readBlobList(deps.listFile)) {
    await mapWithConcurrency(blobs, copiesAtOnce, async (blob) => {
      named.add(blob.blobId);
      let copied = 0;
      const kind = await copyBlob(deps, blob, damaged, (bytes) => {
        copied += bytes;
        advance(0, bytes);
      });
      advance(1, blob.bytes - copied);
      if (kind !== undefined)
        faults.push({ kind, blobId: blob.blobId, projectId: blob.projectId, files: blob.files ?? [] });
    });
  }
  return { named, faults };
}

async function copyBlob(
  { source, copy }: CopyDeps,
  { blobId, bytes, sha256 }: SnapshotBlob,
  damaged: Set<string>,
  advance: (bytes: number) => void,
): Promise<BackupFault['kind'] | undefined> {
  if (damaged.has(blobId)) return 'content_differs';
  if ((await copy.size(blobId)) === bytes) return undefined;
  let digest: BlobDigest;
  try {
    digest = await copy.write(blobId, counted(await source.open(blobId), advance));
  } catch (error) {
    if (error instanceof BlobMissing) return 'bytes_missing';
    if (!(error instanceof BlobUnreadable)) throw error;
    await copy.remove(blobId);
    return 'unreadable';
  }
  if (digest.sha256 === sha256) return undefined;
  damaged.add(blobId);
  return 'content_differs';
}

async function* counted(content: AsyncIterable<Uint8Array>, advance: (bytes: number) => void) {
  for await (const piece of content) {
    yield piece;
    advance(piece.length);
  }
}

/**
 * Removes blobs of files that were deleted since an earlier round, because a deleted file does not belong in the
 * backup.
 */
async function removeOthers(copy: CopyDeps['copy'], named: ReadonlySet<string>): Promise<void> {
  for await (const { blobId } of copy.list()) if (!named.has(blobId)) await copy.remove(blobId);
}
