import type { CommonDeps } from '../../../platform/common-deps.ts';
import type { BlobRepository } from '../blob-repository.ts';
import { type BlobStore, BlobUnreadable } from '../blob-store.ts';
import { finishDeleting } from '../delete-file.ts';
import type { FileRepository, StoredBlobRow } from '../file-repository.ts';
import type { ReportDamage } from './report-damage.ts';
import { type SweepResult, sweepOrphans } from './sweep-orphans.ts';

export interface ReconcileDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly damages: BlobRepository;
  readonly reportDamage: ReportDamage;
  /** Milliseconds after which quarantined bytes are erased. */
  readonly keepQuarantined: number;
  /** See `SweepDeps`. */
  readonly grace?: number;
  /**
   * Erases the bytes of unfinished uploads in object storage. A list and a size of every object would cost a request each, so with it
   * only `fsck` and the verification look for other differences. @returns the number of erased blobs
   */
  readonly sweepUnfinished?: ((signal?: AbortSignal) => Promise<number>) | undefined;
}

export interface Reconciled {
  readonly deletesFinished: number;
  readonly orphans: SweepResult;
  /** The number of blobs erased because their time in the quarantine is over. */
  readonly purged: number;
  /** The number of live rows whose bytes are missing or have another length. A crash never causes this. */
  readonly damaged: number;
}

const batch = 500;

/**
 * Makes the disk and the rows consistent after a crash. Runs at the start and periodically, also during uploads and
 * deletes.
 */
export async function reconcileFiles(deps: ReconcileDeps, signal?: AbortSignal): Promise<Reconciled> {
  const deletesFinished = await finishDeletes(deps, signal);
  await eraseReplaced(deps, signal);
  const { sweepUnfinished } = deps;
  const unfinished = await sweepUnfinished?.(signal);
  const orphans = unfinished === undefined ? await sweepOrphans(deps, false, signal) : { quarantined: 0, left: 0 };
  const purged = await purgeQuarantine(deps, signal);
  const damaged = unfinished === undefined ? await findDamage(deps, signal) : 0;
  if (unfinished !== undefined && unfinished > 0) deps.logger.warn({ unfinished }, 'unfinished uploads erased');
  const result = { deletesFinished, orphans, purged, damaged };
  if (deletesFinished + purged + damaged > 0) {
    deps.logger.warn({ deletes_finished: deletesFinished, orphans, purged, damaged }, 'files reconciled');
  }
  return result;
}

/**
 * Erases the bytes of deleted files, which never enter the quarantine. Bytes that cannot be removed are retried the
 * next time and delay nothing else.
 * @returns the number of finished deletes
 */
export async function finishDeletes(
  deps: Pick<ReconcileDeps, 'files' | 'blobs' | 'logger'>,
  signal?: AbortSignal,
): Promise<number> {
  let count = 0;
  for (;;) {
    const unfinished = await deps.files.unfinishedDeletes(batch);
    let failed = 0;
    for (const deleting of unfinished) {
      signal?.throwIfAborted();
      try {
        await finishDeleting(deps, deleting);
      } catch (error) {
        failed += 1;
        deps.logger.error({ err: error, file_id: deleting.fileId }, 'delete not finished');
      }
    }
    count += unfinished.length - failed;
    if (unfinished.length < batch || failed === batch) return count;
  }
}

/** As with deletes, bytes that cannot be removed do not delay other work. */
async function eraseReplaced({ damages, blobs, logger }: ReconcileDeps, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const replaced = await damages.replacedBlobs(batch);
    let failed = 0;
    for (const blobId of replaced) {
      signal?.throwIfAborted();
      try {
        await blobs.remove(blobId);
        await damages.forgetReplaced(blobId);
      } catch (error) {
        failed += 1;
        logger.error({ err: error, blob_id: blobId }, 'replaced blob not removed');
      }
    }
    if (replaced.length < batch || failed === batch) return;
  }
}

async function purgeQuarantine(deps: ReconcileDeps, signal?: AbortSignal): Promise<number> {
  const olderThan = deps.clock.now() - deps.keepQuarantined;
  let count = 0;
  for await (const { blobId, modifiedAt } of deps.blobs.quarantine.list()) {
    signal?.throwIfAborted();
    if (modifiedAt > olderThan) continue;
    try {
      if (await deps.blobs.quarantine.purge(blobId)) count += 1;
    } catch (error) {
      deps.logger.error({ err: error, blob_id: blobId }, 'quarantined blob not erased');
    }
  }
  return count;
}

async function findDamage(deps: ReconcileDeps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const rows = await deps.files.liveBlobs(after, batch);
    for (const row of rows) {
      signal?.throwIfAborted();
      after = row.blobId;
      if (await isDamaged(deps, row)) count += 1;
    }
    if (rows.length < batch) return count;
  }
}

/**
 * Returns whether the bytes are damaged. Clears recorded damage of missing bytes that exist again. The length does not
 * reveal changed bytes.
 */
async function isDamaged({ blobs, damages, reportDamage }: ReconcileDeps, row: StoredBlobRow): Promise<boolean> {
  const found = await blobs.size(row.blobId).catch((error: unknown) => {
    if (error instanceof BlobUnreadable) return 'unreadable' as const;
    throw error;
  });
  if (found === 'unreadable') return reportDamage(row, found);
  if (found !== row.bytes) return reportDamage(row, found === undefined ? 'missing' : 'size_differs');
  if (row.damage === 'missing') await damages.clearDamage(row.blobId);
  return row.damage !== null && row.damage !== 'missing';
}
