import { type Ballast, ballastBytes, openBallast } from '../adapters/disk/ballast.ts';
import { freeBytes, watchDiskSpace } from '../adapters/disk/disk-space.ts';
import { type DiskSpace, unlimitedSpace } from '../kernel/disk/disk-space.ts';
import type { Config } from '../settings/config.ts';
import type { ServiceContext } from './context.ts';

/** The least reserve of background work, whatever minimum is set for uploads. */
const leastReserveBytes = 16 * 2 ** 20;

/**
 * Watches the disk of a SQLite store. Open it before the database, whose start may need the space of the ballast. Uploads stop at
 * the configured minimum and background work at half of it, so that accepted uploads can usually be processed.
 */
export async function openDiskSpace(
  { databaseUrl, serve, dataFolder: folder, minFreeDiskMb }: Config,
  { logger, registry: metrics, resources }: Pick<ServiceContext, 'logger' | 'registry' | 'resources'>,
): Promise<{ readonly space: DiskSpace; readonly ballast: Ballast }> {
  if (databaseUrl !== null) return { space: unlimitedSpace, ballast: noBallast };
  const leastFree = minFreeDiskMb * 2 ** 20;
  const reserveBytes = Math.max(leastReserveBytes, leastFree / 2);
  const options = { folder, bytes: ballastBytes, remaining: Math.max(reserveBytes, leastFree), logger };
  // Only the process that serves the files address manages the ballast.
  const ballast = serve === 'plugins' ? noBallast : await openBallast(options, await freeBytes(folder));
  const space = watchDiskSpace({ folder, reserveBytes, ballast, logger, metrics });
  resources.defer(() => space.close());
  return { space, ballast };
}

const noBallast: Ballast = { adjust: async () => undefined, isReleased: () => false };
