import type { Logger } from '../../platform/log/logger.ts';
import { Counter, type Registry, registerGauge } from '../../platform/metrics.ts';
import type { BlobRepository } from './blob-repository.ts';
import type { BlobStore } from './blob-store.ts';
import type { Reconciled } from './maintenance/reconcile.ts';

export interface UploadSpaceDeps {
  readonly leastFreeBytes: number;
  readonly freeBytes: () => Promise<number>;
  /** The disk space that is reserved for deletions and for the start. */
  readonly reserve: { isReleased(): boolean; missingBytes(freeBytes: number): number };
  readonly isBackgroundPaused: () => boolean;
  /** Frees space if it can. Rejects when there is still too little for uploads. */
  readonly checkRoom: BlobStore['checkRoom'];
  readonly refusal: () => Error;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Registry;
}

export interface UploadSpace {
  /** @throws INSUFFICIENT_STORAGE while the disk is nearly full */
  readonly check: BlobStore['checkRoom'];
  /** Reports a nearly full disk for `/v1/ready?verbose`. `count` is the number of MiB that must become free. */
  conditions(): Promise<readonly Condition[]>;
}

/** Refuses uploads while the disk is nearly full. Logs only the first refusal and the end of refusals. */
export function createUploadSpace(deps: UploadSpaceDeps): UploadSpace {
  const { leastFreeBytes, freeBytes, reserve, logger } = deps;
  let isRefusing = false;

  async function missing(): Promise<{ readonly free: number; readonly bytes: number }> {
    const free = await freeBytes();
    return { free, bytes: Math.max(0, leastFreeBytes - free, reserve.missingBytes(free)) };
  }
  async function note(refuses: boolean): Promise<void> {
    if (refuses === isRefusing) return;
    isRefusing = refuses;
    const { free, bytes } = await missing();
    const about = { free_bytes: free, missing_bytes: bytes };
    if (refuses) logger.warn(about, 'uploads refused: the disk is nearly full');
    else logger.info(about, 'uploads accepted again: the disk has free space');
  }
  const refuses = async () => reserve.isReleased() || (await missing()).bytes > 0;

  registerGauge(
    deps.metrics,
    'quartermaster_uploads_paused',
    '1 while uploads are refused because the disk is nearly full, otherwise 0.',
    async () => ((await refuses()) ? 1 : 0),
  );
  return {
    async check() {
      try {
        if (reserve.isReleased()) throw deps.refusal();
        await deps.checkRoom();
      } catch (error) {
        await note(true);
        throw error;
      }
      await note(false);
    },
    async conditions() {
      const found: Condition[] = [];
      const { bytes } = await missing();
      const count = Math.ceil(bytes / 2 ** 20);
      if (reserve.isReleased() || bytes > 0) {
        const message = `The disk is nearly full, so uploads are refused. Free ${count} MiB; with less, only quarantined contents make space.`;
        found.push({ part: 'disk', condition: 'uploads_refused', count, message });
      }
      if (deps.isBackgroundPaused()) {
        const message = 'The disk is nearly full, so records wait and runs are refused. Free disk space.';
        found.push({ part: 'disk', condition: 'background_paused', count, message });
      }
      return found;
    },
  };
}

/** A problem of the store that does not keep it from serving requests. */
interface Condition {
  readonly part: string;
  readonly condition: string;
  readonly count: number;
  readonly message: string;
}

export interface BlobHealth {
  reconciled(result: Reconciled): void;
  verified(bytes: number): void;
  /** Reports damage of stored bytes without names, because the endpoint needs no key. */
  conditions(): Promise<readonly Condition[]>;
}

/** Reports damage and orphans as metrics and as conditions of `/v1/ready?verbose`. */
export function createBlobHealth(
  registry: Registry,
  damages: Pick<BlobRepository, 'countDamaged' | 'findVerification'>,
): BlobHealth {
  let orphans = 0;
  const registers = [registry];
  registerGauge(registry, 'quartermaster_blobs_damaged', 'Stored blobs that are missing or damaged.', () =>
    damages.countDamaged(),
  );
  registerGauge(
    registry,
    'quartermaster_blobs_orphaned',
    'Orphaned blobs that were not quarantined because there are too many.',
    () => orphans,
  );
  registerGauge(
    registry,
    'quartermaster_blob_verification_finished_seconds',
    'Time at which the last verification of all stored blobs ended, in seconds since 1970. 0: never.',
    async () => ((await damages.findVerification())?.finishedAt ?? 0) / 1000,
  );
  const verified = new Counter({
    name: 'quartermaster_blob_verified_bytes_total',
    help: 'Bytes read by the background verification.',
    registers,
  });
  return {
    reconciled(result) {
      orphans = result.orphans.left;
    },
    verified: (bytes) => verified.inc(bytes),
    async conditions() {
      const damaged = await damages.countDamaged();
      return [
        condition(
          'damaged',
          damaged,
          'Stored contents are missing or damaged. Upload them again, or restore a backup.',
        ),
        condition(
          'orphaned',
          orphans,
          'Stored contents have no row. The database may have lost rows: restore a backup.',
        ),
      ].filter(({ count }) => count > 0);
    },
  };
}

function condition(name: string, count: number, message: string): Condition {
  return { part: 'blobs', condition: name, count, message };
}
