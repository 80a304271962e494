import { commandName } from '@quartermaster/contract/command-name';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import type { BlobStore, StoredBlob } from '../blob-store.ts';
import type { FileRepository } from '../file-repository.ts';

export interface SweepDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly files: Pick<FileRepository, 'knownBlobs'>;
  readonly blobs: Pick<BlobStore, 'list' | 'quarantine'>;
  /** Milliseconds for which a blob without a row stays, because its upload may be about to write the row. */
  readonly grace?: number;
}

export interface SweepResult {
  /** The number of blobs without a row that were moved to the quarantine. */
  readonly quarantined: number;
  /**
   * The number of blobs without a row that stay in place because there are too many. The operator decides about them.
   */
  readonly left: number;
}

export const orphanGrace = 3_600_000;
const batch = 500;
/** A crash leaves few orphans, at most these. */
const fewOrphans = 5;
const smallPart = 1 / 100;

/**
 * Moves blobs without a row to the quarantine when they are older than the grace period. With more than 5 orphans, and
 * more than 1 % of all blobs, the database has probably lost rows (a damaged log, an older copy). Nothing is moved then
 * unless `anyNumber` confirms it.
 */
export async function sweepOrphans(deps: SweepDeps, anyNumber: boolean, signal?: AbortSignal): Promise<SweepResult> {
  let [orphans, all] = [0, 0];
  for await (const found of findOrphans(deps, signal)) {
    all += found.examined;
    orphans += found.orphans.length;
  }
  if (orphans === 0) return { quarantined: 0, left: 0 };
  if (!anyNumber && orphans > fewOrphans && orphans > all * smallPart) {
    deps.logger.error(
      { orphans, blobs: all },
      `too many orphaned blobs: nothing was moved. The database may have lost rows: restore its newest backup, or run "${commandName} quarantine sweep" when the files are not needed`,
    );
    return { quarantined: 0, left: orphans };
  }
  let quarantined = 0;
  for await (const { orphans: found } of findOrphans(deps, signal)) {
    for (const { blobId } of found) if (await deps.blobs.quarantine.add(blobId)) quarantined += 1;
  }
  deps.logger.warn({ quarantined }, 'orphaned blobs quarantined');
  return { quarantined, left: 0 };
}

/**
 * Returns batches of blobs without a row that are older than the grace period. `examined` counts the blobs of any age in
 * the batch.
 */
export async function* findOrphans(
  {
    files,
    blobs,
    clock,
    grace = orphanGrace,
  }: Pick<SweepDeps, 'files' | 'clock' | 'grace'> & { readonly blobs: Pick<BlobStore, 'list'> },
  signal?: AbortSignal,
): AsyncGenerator<{ readonly orphans: readonly StoredBlob[]; readonly examined: number }> {
  const olderThan = clock.now() - grace;
  let page: StoredBlob[] = [];
  const check = async () => {
    const old = page.filter((blob) => blob.modifiedAt <= olderThan);
    const known = await files.knownBlobs(old.map((blob) => blob.blobId));
    return { orphans: old.filter((blob) => !known.has(blob.blobId)), examined: page.length };
  };
  for await (const blob of blobs.list()) {
    signal?.throwIfAborted();
    page.push(blob);
    if (page.length < batch) continue;
    yield await check();
    page = [];
  }
  yield await check();
}
