import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
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
  /** Reads the whole database for damage. */
  readonly checkDatabase: () => Promise<{ readonly checked: string; readonly findings: readonly string[] }>;
}

interface DamagedBlob {
  readonly blobId: string;
  readonly projectId: string;
  /** Whose content it is. */
  readonly files: readonly FileOfBlob[];
}

export type StoreFault =
  | ({ readonly kind: 'bytes_missing' } & DamagedBlob)
  | ({ readonly kind: 'size_differs'; readonly expected: number; readonly found: number } & DamagedBlob)
  | ({ readonly kind: 'content_differs' } & DamagedBlob)
  /** The disk does not give the bytes. */
  | ({ readonly kind: 'unreadable' } & DamagedBlob)
  /** Bytes that no row names. Within the grace period they may belong to an upload in progress and are no fault. */
  | ({ readonly kind: 'orphan'; readonly isInGrace: boolean } & StoredBlob)
  /** The bytes kept as used by a project, which its quota is held to, are not those of its files. */
  | ({ readonly kind: 'usage_differs' } & WrongUsage)
  /** A delete that a crash or a fault cut short; the service finishes it within a minute, or at its next start. */
  | { readonly kind: 'delete_unfinished'; readonly fileId: string }
  /** The database itself is damaged; `finding` is its message. Restore a backup. */
  | { readonly kind: 'database_damaged'; readonly finding: string };

export interface StoreReport {
  /** How the database was checked. */
  readonly database: string;
  readonly blobsChecked: number;
  readonly bytesChecked: number;
  readonly filesOnDisk: number;
  readonly faults: readonly StoreFault[];
  /** Of the faults: those that were mended. */
  readonly mended: readonly StoreFault[];
  /** Faults neither repaired nor within a grace period. If there is one, the exit code is 1. */
  readonly open: number;
}

export interface CheckStoreOptions {
  /** Read every file and compare its SHA-256. */
  readonly hash: boolean;
  readonly repair?: boolean;
}

const batch = 500;
const mostFiles = 100;

/**
 * Checks the database, and both directions: every live row has its bytes, of the right size and, with `hash`, the right
 * content; all bytes have a row; the bytes kept as used by a project are those of its files. Beside a running service, uploads
 * and deletes under way may show as faults. With `repair` it puts back good bytes from the quarantine, records the
 * damage so that the next upload of the same content replaces it, finishes deletes, and corrects the bytes used.
 */
export async function checkStore(
  deps: CheckStoreDeps,
  options: CheckStoreOptions,
  signal?: AbortSignal,
): Promise<StoreReport> {
  const repair = options.repair === true;
  const { checked, findings } = await deps.checkDatabase();
  const faults: StoreFault[] = findings.map((finding) => ({ kind: 'database_damaged', finding }));
  const mended: StoreFault[] = [];
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

/** @throws the error of a storage that does not work at all */
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
      // Deleted after its row was read.
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

/** @returns whether the bytes are right now. */
async function mendBlob(
  { blobs, damages, clock }: CheckStoreDeps,
  row: StoredBlobRow,
  fault: StoreFault | undefined,
  hash: boolean,
): Promise<boolean> {
  const damage = fault === undefined ? undefined : damageOf[fault.kind];
  if (damage === undefined) {
    // Without a hash, only what was missing is known to be back.
    if (row.damage !== null && (hash || row.damage === 'missing')) await damages.clearDamage(row.blobId);
    return true;
  }
  // Wrong bytes in their place are left alone: the next upload of the same content erases them.
  if (damage === 'missing' && (await hasGoodCopy(blobs, row))) {
    await blobs.quarantine.restore(row.blobId);
    await damages.clearDamage(row.blobId);
    return true;
  }
  await damages.recordDamage(row.blobId, damage, clock.now());
  return false;
}

/** Quarantined bytes whose hash is that of the row: moved there after a read error, or put there by the operator. */
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

/** Gives how many blobs there are. */
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
