import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';
import { finishDeleting } from './delete-file.ts';
import type { FileRepository } from './file-repository.ts';

export interface ReconcileDeps {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds a blob without a row is left alone: its upload may be about to write the row. */
  readonly grace?: number;
}

export interface Reconciled {
  readonly deletesFinished: number;
  readonly orphansRemoved: number;
  /** Live rows whose bytes are missing: never the work of a crash, so nothing is done about them but to say so. */
  readonly missing: number;
}

const hour = 3_600_000;
const batch = 500;

/** Brings disk and rows together after a crash. Run at start, and now and then. May run beside uploads and deletes. */
export async function reconcileFiles(deps: ReconcileDeps, signal?: AbortSignal): Promise<Reconciled> {
  const deletesFinished = await finishDeletes(deps, signal);
  const orphansRemoved = await removeOrphans(deps, signal);
  const missing = await reportMissing(deps, signal);
  const result = { deletesFinished, orphansRemoved, missing };
  if (deletesFinished + orphansRemoved + missing > 0) deps.logger.warn(result, 'files were reconciled');
  return result;
}

async function finishDeletes(deps: ReconcileDeps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (;;) {
    const unfinished = await deps.files.unfinishedDeletes(batch);
    for (const deleting of unfinished) {
      signal?.throwIfAborted();
      await finishDeleting(deps, deleting);
    }
    count += unfinished.length;
    if (unfinished.length < batch) return count;
  }
}

async function removeOrphans(deps: ReconcileDeps, signal?: AbortSignal): Promise<number> {
  const olderThan = deps.clock.now() - (deps.grace ?? hour);
  let count = 0;
  let candidates: StoredBlob[] = [];
  const removeBatch = async () => {
    const known = await deps.files.knownBlobs(candidates.map((blob) => blob.blobId));
    for (const { blobId } of candidates) {
      if (known.has(blobId)) continue;
      await deps.blobs.remove(blobId);
      count += 1;
    }
    candidates = [];
  };
  for await (const blob of deps.blobs.list()) {
    signal?.throwIfAborted();
    if (blob.modifiedAt > olderThan) continue;
    candidates.push(blob);
    if (candidates.length === batch) await removeBatch();
  }
  await removeBatch();
  return count;
}

async function reportMissing(deps: ReconcileDeps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const rows = await deps.files.liveBlobs(after, batch);
    for (const row of rows) {
      signal?.throwIfAborted();
      after = row.blobId;
      if ((await deps.blobs.size(row.blobId)) === row.bytes) continue;
      // A delete may have run since the row was read.
      if (!(await isStillLive(deps, row.blobId))) continue;
      count += 1;
      deps.logger.error({ blobId: row.blobId, projectId: row.projectId }, 'the bytes of a file are missing or cut');
    }
    if (rows.length < batch) return count;
  }
}

async function isStillLive(deps: ReconcileDeps, blobId: string): Promise<boolean> {
  const [first] = await deps.files.liveBlobs(previousId(blobId), 1);
  return first?.blobId === blobId;
}

/** Sorts before `id` with nothing that could be an id in between. */
function previousId(id: string): string {
  return id.slice(0, -1);
}
