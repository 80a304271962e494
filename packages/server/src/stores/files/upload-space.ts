import type { Logger } from '../../platform/log/logger.ts';
import { Gauge, type Registry } from '../../platform/metrics.ts';
import type { Condition } from './blob-metrics.ts';
import type { BlobStore } from './blob-store.ts';

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

  new Gauge({
    name: 'quartermaster_uploads_paused',
    help: '1 while uploads are refused because the disk is nearly full, otherwise 0.',
    registers: [deps.metrics],
    async collect() {
      this.set((await refuses()) ? 1 : 0);
    },
  });
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
