import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Clock } from '../../../platform/clock.ts';
import type { BlobDamage, BlobRepository, FileOfBlob } from '../blob-repository.ts';
import { BlobMissing, type BlobStore, BlobUnreadable, type StoredBlob } from '../blob-store.ts';
import { finishDeleting } from '../delete-file.ts';
import type { FileRepository, StoredBlobRow, WrongUsage } from '../file-repository.ts';
import { orphanGrace } from './sweep-orphans.ts';

export interface CheckStoreDeps {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly damages: BlobRepository;
  readonly clock: Clock;
  /** Reads the whole database and reports damage. */
  readonly checkDatabase: () => Promise<{
    readonly checked: string;
    readonly findings: readonly string[];
    readonly indexes: readonly DamagedIndex[];
  }>;
  /**
   * Rebuilds the search index of a collection.
   * @returns whether it has no error now
   */
  readonly repairIndex: (collectionId: string) => Promise<boolean>;
}

interface DamagedIndex {
  readonly collectionId: string;
  readonly finding: string;
}

interface DamagedBlob {
  readonly blobId: string;
  readonly projectId: string | null;
  /** The files that have this content. */
  readonly files: readonly FileOfBlob[];
}

export type StoreFault =
  | ({ readonly kind: 'bytes_missing' } & DamagedBlob)
  | ({ readonly kind: 'size_differs'; readonly expected: number; readonly found: number } & DamagedBlob)
  | ({ readonly kind: 'content_differs' } & DamagedBlob)
  /** The disk cannot read the bytes. */
  | ({ readonly kind: 'unreadable' } & DamagedBlob)
  /** Bytes without a row. Within the grace period they may belong to an upload in progress and are not a fault. */
  | ({ readonly kind: 'orphan'; readonly isInGrace: boolean } & StoredBlob)
  /** The stored usage of a project, which its quota is compared with, differs from that of its files. */
  | ({ readonly kind: 'usage_differs' } & WrongUsage)
  /** A delete that a crash or a fault interrupted. The service finishes it within a minute, or at its next start. */
  | { readonly kind: 'delete_unfinished'; readonly fileId: string }
  /** The database itself is damaged. `finding` is its message. The remedy is to restore a backup. */
  | { readonly kind: 'database_damaged'; readonly finding: string }
  | IndexFault;

/** The search index of a collection does not agree with its chunks. A repair rebuilds it. */
type IndexFault = { readonly kind: 'index_damaged' } & DamagedIndex;

export interface StoreReport {
  /** Describes how the database was checked. */
  readonly database: string;
  readonly blobsChecked: number;
  readonly bytesChecked: number;
  readonly filesOnDisk: number;
  readonly faults: readonly StoreFault[];
  /** The faults that were repaired. */
  readonly mended: readonly StoreFault[];
  /** The number of faults that are neither repaired nor within a grace period. The exit code is 1 unless it is 0. */
  readonly open: number;
}

export interface CheckStoreOptions {
  /** True to read every file and compare its SHA-256. */
  readonly hash: boolean;
  readonly repair?: boolean;
}

const batch = 500;
const mostFiles = 100;

/**
 * Checks the database, and compares files and rows in both directions. Every live row must have its bytes with the
 * right size and, with `hash`, the right content. All bytes must have a row, and the stored usage of a project must
 * match its files. While a service runs, uploads and deletes in progress may appear as faults. With `repair`, it
 * restores correct bytes from the quarantine, records damage so that the next upload of the same content replaces it,
 * finishes deletes, corrects the usage, and rebuilds damaged search indexes.
 */
export async function checkStore(
  deps: CheckStoreDeps,
  options: CheckStoreOptions,
  signal?: AbortSignal,
): Promise<StoreReport> {
  const repair = options.repair === true;
  const { checked, findings, indexes } = await deps.checkDatabase();
  const faults: StoreFault[] = findings.map((finding) => ({ kind: 'database_damaged', finding }));
  const damaged = indexes.map((index): IndexFault => ({ kind: 'index_damaged', ...index }));
  faults.push(...damaged);
  const mended: StoreFault[] = repair ? await repairIndexes(deps, damaged) : [];
  let [blobsChecked, bytesChecked, after] = [0, 0, ''];
  for (;;) {
    const rows = await deps.files.liveBlobs(after, batch);
    for (const row of rows) {
      signal?.throwIfAborted();
      after = row.blobId;
      blobsChecked += 1;
      bytesChecked += row.bytes;
      const fault = await findFault(deps, row, options.hash);
      if (fault !== undefined) faults.push(fault);
      if (repair && (await mendBlob(deps, row, fault, options.hash)) && fault !== undefined) mended.push(fault);
    }
    if (rows.length < batch) break;
  }
  const filesOnDisk = await findOrphans(deps, faults, signal);
  for (const deleting of await deps.files.unfinishedDeletes(10_000)) {
    const fault = { kind: 'delete_unfinished', fileId: deleting.fileId } as const;
    faults.push(fault);
    if (!repair) continue;
    await finishDeleting(deps, deleting);
    mended.push(fault);
  }
  const usages = (await deps.files.wrongUsages()).map((usage) => ({ kind: 'usage_differs' as const, ...usage }));
  if (repair) for (const { projectId } of usages) await deps.files.correctUsage(projectId);
  faults.push(...usages);
  if (repair) mended.push(...usages);
  const inGrace = faults.filter((fault) => fault.kind === 'orphan' && fault.isInGrace).length;
  const open = faults.length - mended.length - inGrace;
  return { database: checked, blobsChecked, bytesChecked, filesOnDisk, faults, mended, open };
}

/** @returns the faults that were repaired */
async function repairIndexes({ repairIndex }: CheckStoreDeps, faults: readonly IndexFault[]): Promise<IndexFault[]> {
  const repaired = new Set<string>();
  for (const collectionId of new Set(faults.map((fault) => fault.collectionId))) {
    if (await repairIndex(collectionId)) repaired.add(collectionId);
  }
  return faults.filter((fault) => repaired.has(fault.collectionId));
}

/** @throws the error of a storage that has failed as a whole */
async function findFault(deps: CheckStoreDeps, row: StoredBlobRow, hash: boolean): Promise<StoreFault | undefined> {
  const { blobId, projectId, damage } = row;
  const about = async () => ({ blobId, projectId, files: await deps.damages.filesOf([blobId], mostFiles) });
  try {
    const found = await deps.blobs.size(blobId);
    if (found === undefined) throw new BlobMissing(blobId);
    if (found !== row.bytes) return { kind: 'size_differs', ...(await about()), expected: row.bytes, found };
    if (!hash) {
      return damage === 'content_differs' || damage === 'unreadable' ? { kind: damage, ...(await about()) } : undefined;
    }
    const isRight = (await hashOf(await deps.blobs.open(blobId))) === row.sha256;
    return isRight ? undefined : { kind: 'content_differs', ...(await about()) };
  } catch (error) {
    if (error instanceof BlobMissing) {
      const named = await about();
      // The file was deleted after its row was read.
      return named.files.length === 0 ? undefined : { kind: 'bytes_missing', ...named };
    }
    if (!(error instanceof BlobUnreadable)) throw error;
    await deps.blobs.check();
    return { kind: 'unreadable', ...(await about()) };
  }
}

const damageOf: Partial<Record<StoreFault['kind'], BlobDamage>> = {
  bytes_missing: 'missing',
  size_differs: 'size_differs',
  content_differs: 'content_differs',
  unreadable: 'unreadable',
};

/** @returns whether the bytes are correct now */
async function mendBlob(
  { blobs, damages, clock }: CheckStoreDeps,
  row: StoredBlobRow,
  fault: StoreFault | undefined,
  hash: boolean,
): Promise<boolean> {
  const damage = fault === undefined ? undefined : damageOf[fault.kind];
  if (damage === undefined) {
    // Without a hash, only the damage `missing` is known to be over.
    if (row.damage !== null && (hash || row.damage === 'missing')) await damages.clearDamage(row.blobId);
    return true;
  }
  // Wrong bytes stay in their place. The next upload of the same content erases them.
  if (damage === 'missing' && (await hasGoodCopy(blobs, row))) {
    await blobs.quarantine.restore(row.blobId);
    await damages.clearDamage(row.blobId);
    return true;
  }
  await damages.recordDamage(row.blobId, damage, clock.now());
  return false;
}

/**
 * Returns whether the quarantine has bytes with the hash of the row. They were moved there after a read error, or the
 * operator put them there.
 */
async function hasGoodCopy({ quarantine }: BlobStore, row: StoredBlobRow): Promise<boolean> {
  try {
    return (await hashOf(await quarantine.open(row.blobId))) === row.sha256;
  } catch (error) {
    if (error instanceof BlobMissing || error instanceof BlobUnreadable) return false;
    throw error;
  }
}

/** SHA-256, hexadecimal. */
export async function hashOf(bytes: Readable): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of bytes) digest.update(chunk);
  return digest.digest('hex');
}

/** Returns the number of blobs. */
async function findOrphans(deps: CheckStoreDeps, faults: StoreFault[], signal?: AbortSignal): Promise<number> {
  const olderThan = deps.clock.now() - orphanGrace;
  let count = 0;
  let seen: StoredBlob[] = [];
  const checkBatch = async () => {
    const known = await deps.files.knownBlobs(seen.map((blob) => blob.blobId));
    for (const blob of seen) {
      if (!known.has(blob.blobId)) faults.push({ kind: 'orphan', isInGrace: blob.modifiedAt > olderThan, ...blob });
    }
    seen = [];
  };
  for await (const blob of deps.blobs.list()) {
    signal?.throwIfAborted();
    count += 1;
    seen.push(blob);
    if (seen.length === batch) await checkBatch();
  }
  await checkBatch();
  return count;
}
