import { type BlobDigest, BlobMissing, type BlobStore } from '../files/blob-store.ts';
import { severalAtOnce } from '../kernel/several-at-once.ts';
import { deletedTooFast } from './problems.ts';
import type { DatabaseSnapshot, SnapshotBlob } from './snapshot-port.ts';

export interface BackupDeps {
  /** Puts a copy of the database into the backup, in place of an earlier one. */
  readonly takeSnapshot: () => Promise<DatabaseSnapshot>;
  readonly source: Pick<BlobStore, 'open'>;
  readonly copy: Pick<BlobStore, 'stage' | 'size' | 'list' | 'remove'>;
}

/** A file of the store that is damaged: the rest is in the backup all the same. */
export interface BackupFault {
  /** `content_differs`: what is there was copied as it is. */
  readonly kind: 'bytes_missing' | 'content_differs';
  readonly blobId: string;
  readonly projectId: string;
}

export interface CopyReport {
  readonly blobs: number;
  readonly bytes: number;
  readonly faults: readonly BackupFault[];
}

/** Each round only copies what has come since; more are needed only where files are deleted all the time. */
const mostRounds = 20;
const batch = 500;
/** As many as share a sync of their folder. */
const copiesAtOnce = 8;

/**
 * Copies the database, then the bytes it names. Bytes that are gone by then belong to files that were deleted meanwhile,
 * which a newer copy of the database no longer names: so another round is made, until nothing is missing or the same is
 * missing twice. Nothing is locked, and nobody waits. Source: ADR 0058.
 */
export async function copyStore(deps: BackupDeps): Promise<CopyReport> {
  let missing: ReadonlySet<string> = new Set();
  const damaged = new Set<string>();
  for (let round = 1; round <= mostRounds; round++) {
    const snapshot = await deps.takeSnapshot();
    try {
      const { named, report } = await copyBlobs(deps, snapshot, damaged);
      const lost = report.faults.filter(({ kind }) => kind === 'bytes_missing').map(({ blobId }) => blobId);
      if (lost.every((blobId) => missing.has(blobId))) {
        await removeOthers(deps.copy, named);
        return report;
      }
      missing = new Set(lost);
    } finally {
      await snapshot.close();
    }
  }
  throw deletedTooFast(mostRounds);
}

interface Round {
  readonly named: ReadonlySet<string>;
  readonly report: CopyReport;
}

/** `damaged`: blobs of this and earlier rounds whose bytes are not what they were. */
async function copyBlobs(deps: BackupDeps, snapshot: DatabaseSnapshot, damaged: Set<string>): Promise<Round> {
  const named = new Set<string>();
  const faults: BackupFault[] = [];
  let bytes = 0;
  for (let after = ''; ; ) {
    const blobs = await snapshot.liveBlobs(after, batch);
    await severalAtOnce(blobs, copiesAtOnce, async (blob) => {
      named.add(blob.blobId);
      bytes += blob.bytes;
      const kind = await copyBlob(deps, blob, damaged);
      if (kind !== undefined) faults.push({ kind, blobId: blob.blobId, projectId: blob.projectId });
    });
    after = blobs.at(-1)?.blobId ?? after;
    if (blobs.length < batch) return { named, report: { blobs: named.size, bytes, faults } };
  }
}

async function copyBlob(
  { source, copy }: BackupDeps,
  { blobId, bytes, sha256 }: SnapshotBlob,
  damaged: Set<string>,
): Promise<BackupFault['kind'] | undefined> {
  if (damaged.has(blobId)) return 'content_differs';
  if ((await copy.size(blobId)) === bytes) return undefined;
  const staged = copy.stage(blobId);
  let digest: BlobDigest;
  try {
    for await (const chunk of await source.open(blobId)) await staged.append(chunk);
    digest = await staged.finish();
    await staged.commit();
  } catch (error) {
    await staged.discard();
    if (error instanceof BlobMissing) return 'bytes_missing';
    throw error;
  }
  if (digest.sha256 === sha256) return undefined;
  damaged.add(blobId);
  return 'content_differs';
}

/** What was copied for an earlier round and has been deleted since: who deleted it does not want it in the backup. */
async function removeOthers(copy: BackupDeps['copy'], named: ReadonlySet<string>): Promise<void> {
  for await (const { blobId } of copy.list()) if (!named.has(blobId)) await copy.remove(blobId);
}
