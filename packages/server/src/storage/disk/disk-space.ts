import { statfs } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import { registerGauge } from '../../platform/metrics.ts';
import type { Ballast } from './ballast.ts';

export interface DiskSpaceDeps extends Pick<CommonDeps, 'logger' | 'metrics'> {
  readonly folder: string;
  /** Background work pauses while fewer bytes are free. */
  readonly reserveBytes: number;
  readonly ballast: Ballast;
}

export interface WatchedDiskSpace extends DiskSpace {
  close(): Promise<void>;
}

const lookMs = 1_000;
/** Milliseconds for which a measurement of the free space is reused. */
const holdsMs = 100;

/** Returns the bytes that are free for this process, without the blocks that are reserved for root. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Returns the size of the disk in bytes. */
export async function diskBytes(folder: string): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return blocks * bsize;
}

/** Measures the free space once per second, pauses background work below the reserve, and manages the ballast. */
export function watchDiskSpace({ folder, reserveBytes, ballast, logger, metrics }: DiskSpaceDeps): WatchedDiskSpace {
  let low = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  let free: Promise<number> = Promise.resolve(0);

  async function look(): Promise<number> {
    if (performance.now() - askedAt > holdsMs) {
      askedAt = performance.now();
      free = freeBytes(folder);
    }
    const bytes = await free;
    // The space of a deleted ballast file is reserved for deletions and for starting.
    if (low !== (bytes < reserveBytes || ballast.isReleased())) {
      low = !low;
      const about = { free_bytes: bytes, reserve_bytes: reserveBytes };
      if (low) logger.warn(about, 'background work paused: the disk is nearly full');
      else logger.info(about, 'background work resumed: the disk has free space');
    }
    return bytes;
  }
  const hasSpace = async () => {
    await look();
    return !low;
  };

  registerGauge(
    metrics,
    'quartermaster_disk_free_bytes',
    'Free bytes for the service on the disk of the data folder.',
    () => look(),
  );
  registerGauge(
    metrics,
    'quartermaster_background_work_paused',
    '1 while background work waits for disk space, otherwise 0.',
    () => (low ? 1 : 0),
  );
  const tasks = startPeriodicTasks(
    [{ name: 'watch disk space', pause: lookMs, run: async () => ballast.adjust(await look()) }],
    logger,
  );
  return {
    hasFreeSpace: hasSpace,
    isLow: () => low,
    async untilFreeSpace(signal) {
      signal.throwIfAborted();
      while (!(await hasSpace())) await pause(lookMs, undefined, { signal });
    },
    close: tasks.close,
  };
}
