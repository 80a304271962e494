import type { Logger } from '../../platform/log/logger.ts';
import type { Registry } from '../../platform/metrics.ts';
import type { Database } from '../../storage/database/database.ts';
import { openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { openDiskBlobStore } from '../../storage/disk/disk-blob-store.ts';
import { createBlobIntents } from '../../storage/repositories/blob-intents.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import { assertContentInFolder, assertUnclaimed, claimPlace, nameOf } from '../../storage/s3/claim-place.ts';
import { openS3BlobStore } from '../../storage/s3/s3-blob-store.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { createS3Objects } from '../../storage/s3/s3-objects.ts';
import { sweepIntents } from '../../storage/s3/sweep-intents.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import type { ReconcileDeps } from '../../stores/files/maintenance/reconcile.ts';
import { assertUnusedFolder } from '../../stores/files/store-identity.ts';
import type { Config } from '../settings/config.ts';

const day = 24 * 3_600_000;

export interface BlobStoreContext {
  readonly config: Pick<Config, 'blobs' | 'dataFolder'>;
  readonly database: Database;
  readonly logger: Logger;
  readonly registry?: Registry;
}

export interface BlobStoreOptions {
  readonly leastFreeBytes?: number;
  /** Whether an unused object storage may be claimed for the store. */
  readonly claims?: boolean;
}

/**
 * Checks, before a new store is created, that its content belongs to no other store. Otherwise a refused start would leave tables, and
 * the database would count as used for a restore or a move.
 * @throws OperatorError with the remedy
 */
export async function assertContentUnused({
  blobs: place,
  dataFolder,
  serve,
}: Pick<Config, 'blobs' | 'dataFolder' | 'serve'>): Promise<void> {
  const claims = serve !== 'plugins';
  if (place === null) {
    if (claims) await assertUnusedFolder(dataFolder, openBlobFolder(dataFolder));
    return;
  }
  const client = createS3Client(place);
  try {
    await assertUnclaimed({ objects: createS3Objects(client), place: nameOf(place), claims });
  } finally {
    await client.close();
  }
}

export interface OpenedBlobStore {
  readonly blobs: BlobStore;
  readonly sweepUnfinished: ReconcileDeps['sweepUnfinished'];
}

/**
 * Opens the content of the store: in its data folder, or in object storage.
 * @throws OperatorError when the content is elsewhere
 */
export async function openBlobStore(
  { config, database, logger, registry }: BlobStoreContext,
  { leastFreeBytes = 0, claims = false }: BlobStoreOptions = {},
): Promise<OpenedBlobStore> {
  const { blobs: place, dataFolder: folder } = config;
  const store = createStoreRepository(database);
  if (place === null) {
    await assertContentInFolder(store);
    return { blobs: await openDiskBlobStore(folder, { leastFreeBytes, logger }), sweepUnfinished: undefined };
  }
  const client = createS3Client(place, registry);
  try {
    const objects = createS3Objects(client);
    const hasFiles = async () => (await createFileRepository(database).liveBlobs('', 1)).length > 0;
    const claim = { objects, store, place: nameOf(place), claims, hasFiles };
    const blobsId = await claimPlace(claim);
    const intents = createBlobIntents(database);
    return {
      blobs: await openS3BlobStore({ client, folder, leastFreeBytes, intents, blobsId }),
      async sweepUnfinished(signal) {
        // A restored store may have taken the place over. Its objects must stay.
        await claimPlace({ ...claim, claims: false });
        return await sweepIntents({ intents, objects, logger, keepDeleted: place.keepDeletedDays * day }, signal);
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}
