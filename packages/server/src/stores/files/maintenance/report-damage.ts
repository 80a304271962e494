import type { CommonDeps } from '../../../platform/common-deps.ts';
import type { BlobDamage, BlobRepository } from '../blob-repository.ts';
import type { BlobStore } from '../blob-store.ts';

export interface ReportDamageDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly damages: Pick<BlobRepository, 'recordDamage'>;
  readonly blobs: Pick<BlobStore, 'quarantine' | 'check'>;
}

/** @returns false when no live file uses the blob any more, so that there is nothing to report */
export type ReportDamage = (
  blob: { readonly blobId: string; readonly projectId: string | null },
  damage: BlobDamage,
) => Promise<boolean>;

/**
 * Records that stored bytes differ from those of their files, so that the next upload of the same content replaces
 * them. Wrong bytes are moved to the quarantine, so they are not served. `fsck --repair` restores them if their hash
 * turns out to be correct. Unreadable bytes stay in their place, where a later read may succeed.
 * @throws the error of a storage that has failed as a whole, which is not damage of one blob
 */
export function createDamageReport({ damages, blobs, clock, logger }: ReportDamageDeps): ReportDamage {
  /** Moves the bytes to the quarantine. A failure is harmless, because bytes with recorded damage are not served. */
  async function moveAway(blobId: string): Promise<void> {
    try {
      await blobs.quarantine.add(blobId);
    } catch (error) {
      logger.error({ err: error, blob_id: blobId }, 'damaged bytes not moved to the quarantine');
    }
  }

  return async ({ blobId, projectId }, damage) => {
    if (damage === 'unreadable') await blobs.check();
    const outcome = await damages.recordDamage(blobId, damage, clock.now());
    if (outcome === 'gone') return false;
    if (outcome === 'known') return true;
    logger.error({ blob_id: blobId, project_id: projectId, damage }, 'stored content damaged');
    if (damage !== 'missing' && damage !== 'unreadable') await moveAway(blobId);
    return true;
  };
}
