import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import type { BlobRepository } from '../blob-repository.ts';
import { type BlobStore, BlobUnreadable } from '../blob-store.ts';
import { finishDeleting } from '../delete-file.ts';
import type { FileRepository, StoredBlobRow } from '../file-repository.ts';
import type { ReportDamage } from './report-damage.ts';
import { type Swept, sweepOrphans } from './sweep-orphans.ts';

export interface ReconcileDeps {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly damages: BlobRepository;
  readonly reportDamage: ReportDamage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds after which bytes in the quarantine are erased. */
  readonly keepQuarantined: number;
  /** See `SweepDeps`. */
  readonly grace?: number;
}

export interface Reconciled {
  readonly deletesFinished: number;
  readonly orphans: Swept;
  /** Blobs whose time in the quarantine is over. */
  readonly purged: number;
  /** Live rows whose bytes are missing or of another length: never the work of a crash. */
  readonly damaged: number;
}

const batch = 500;

/** Brings disk and rows together after a crash. Run at start, and now and then. May run beside uploads and deletes. */
export async function reconcileFiles(deps: ReconcileDeps, signal?: AbortSignal): Promise<Reconciled> {
  const deletesFinished = await finishDeletes(deps, signal);
  await eraseReplaced(deps, signal);
  const orphans = await sweepOrphans(deps, false, signal);
  const purged = await purgeQuarantine(deps, signal);
  const damaged = await findDamage(deps, signal);
  const result = { deletesFinished, orphans, purged, damaged };
  if (deletesFinished + purged + damaged > 0) deps.logger.warn(result, 'files reconciled');
  return result;
}

/**
 * What a caller deleted is erased; it never gets into the quarantine. Bytes that the disk does not remove are left to the
 * next time and hold up nothing else.
 * @returns how many deletes were finished
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
        deps.logger.error({ err: error, fileId: deleting.fileId }, 'delete not finished');
      }
    }
    count += unfinished.length - failed;
    if (unfinished.length < batch || failed === batch) return count;
  }
}

/** As for deletes, bytes that the disk does not remove hold up nothing else. */
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
        logger.error({ err: error, blobId }, 'replaced blob not removed');
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
      deps.logger.error({ err: error, blobId }, 'quarantined blob not erased');
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

/** Whether the bytes are damaged. Clears recorded damage of missing bytes that are back; the length does not show changed bytes. */
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
