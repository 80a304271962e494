import { createHash } from 'node:crypto';
import type { BlobStore } from './blob-store.ts';
import type { FileRepository, StoredBlobRow, WrongUsage } from './file-repository.ts';

export interface CheckStoreDeps {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
}

export type StoreFault =
  | { readonly kind: 'bytes_missing'; readonly blobId: string; readonly projectId: string }
  | {
      readonly kind: 'size_differs';
      readonly blobId: string;
      readonly projectId: string;
      readonly expected: number;
      readonly found: number;
    }
  | { readonly kind: 'content_differs'; readonly blobId: string; readonly projectId: string }
  /** Bytes that no row names. Younger ones may belong to an upload that is under way. */
  | { readonly kind: 'orphan'; readonly blobId: string; readonly bytes: number; readonly modifiedAt: number }
  /** The bytes kept as used by a project, which its quota is held to, are not those of its files. */
  | ({ readonly kind: 'usage_differs' } & WrongUsage)
  /** A delete that a crash cut short; the next start finishes it. */
  | { readonly kind: 'delete_unfinished'; readonly fileId: string };

export interface StoreReport {
  readonly blobsChecked: number;
  readonly bytesChecked: number;
  readonly filesOnDisk: number;
  readonly faults: readonly StoreFault[];
  /** Of the faults: those that were mended. */
  readonly mended: readonly StoreFault[];
}

const batch = 500;

/**
 * Checks both directions: every live row has its bytes, of the right size and, with `hash`, the right content; all
 * bytes have a row; the bytes kept as used by a project are those of its files. Beside a running service, uploads and deletes
 * under way may show as faults. Changes nothing, but with `repair` what can be made anew from what is there: the bytes used.
 */
export async function checkStore(
  deps: CheckStoreDeps,
  options: { readonly hash: boolean; readonly repair?: boolean },
  signal?: AbortSignal,
): Promise<StoreReport> {
  const faults: StoreFault[] = [];
  let blobsChecked = 0;
  let bytesChecked = 0;
  let after = '';
  for (;;) {
    const rows = await deps.files.liveBlobs(after, batch);
    for (const row of rows) {
      signal?.throwIfAborted();
      after = row.blobId;
      blobsChecked += 1;
      bytesChecked += row.bytes;
      const fault = await findFault(deps.blobs, row, options.hash);
      if (fault !== undefined) faults.push(fault);
    }
    if (rows.length < batch) break;
  }
  const filesOnDisk = await findOrphans(deps, faults, signal);
  for (const { fileId } of await deps.files.unfinishedDeletes(10_000)) {
    faults.push({ kind: 'delete_unfinished', fileId });
  }
  const usages = (await deps.files.wrongUsages()).map((usage) => ({ kind: 'usage_differs' as const, ...usage }));
  if (options.repair === true) for (const { projectId } of usages) await deps.files.correctUsage(projectId);
  faults.push(...usages);
  return { blobsChecked, bytesChecked, filesOnDisk, faults, mended: options.repair === true ? usages : [] };
}

async function findFault(blobs: BlobStore, row: StoredBlobRow, hash: boolean): Promise<StoreFault | undefined> {
  const { blobId, projectId } = row;
  const found = await blobs.size(blobId);
  if (found === undefined) return { kind: 'bytes_missing', blobId, projectId };
  if (found !== row.bytes) return { kind: 'size_differs', blobId, projectId, expected: row.bytes, found };
  if (!hash) return undefined;
  const digest = createHash('sha256');
  for await (const chunk of await blobs.open(blobId)) digest.update(chunk);
  return digest.digest('hex') === row.sha256 ? undefined : { kind: 'content_differs', blobId, projectId };
}

/** Gives how many blobs there are. */
async function findOrphans(deps: CheckStoreDeps, faults: StoreFault[], signal?: AbortSignal): Promise<number> {
  let count = 0;
  let seen: Array<{ blobId: string; bytes: number; modifiedAt: number }> = [];
  const checkBatch = async () => {
    const known = await deps.files.knownBlobs(seen.map((blob) => blob.blobId));
    for (const blob of seen) if (!known.has(blob.blobId)) faults.push({ kind: 'orphan', ...blob });
    seen = [];
  };
  for await (const { blobId, bytes, modifiedAt } of deps.blobs.list()) {
    signal?.throwIfAborted();
    count += 1;
    seen.push({ blobId, bytes, modifiedAt });
    if (seen.length === batch) await checkBatch();
  }
  await checkBatch();
  return count;
}
