import { createHash, randomUUID } from 'node:crypto';
import { createAdmission } from '../../platform/admission/admission.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { createBlobIntents } from '../../storage/repositories/blob-intents.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import { nameOf } from '../../storage/s3/claim-place.ts';
import { createBlobReader, createPlaceCheck, readMark, writeMark } from '../../storage/s3/s3-blob-store.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { createS3Objects } from '../../storage/s3/s3-objects.ts';
import type { BlobDigest } from '../../stores/files/blob-store.ts';
import { findOrphans } from '../../stores/files/maintenance/sweep-orphans.ts';
import type { Config } from '../settings/config.ts';
import type { BackupFacts, CopyDeps } from './backup.ts';
import { contentElsewhere, contentInBackup, objectsOfAnotherStore } from './problems.ts';

/** The content of a backup that stayed in object storage. */
export interface RestoredObjects extends Required<Pick<CopyDeps, 'source' | 'copy' | 'concurrency'>> {
  /** For messages. */
  readonly place: string;
  /** Makes the restored store the one that the place belongs to. Its earlier nodes are not ready and erase nothing from then on. */
  claim(dataFolder: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the object storage of a backup.
 * @param hash whether the bytes of each object are read, too
 * @returns undefined when the backup contains the content
 */
export async function openRestoredObjects(
  config: Config,
  { objects: expected }: Pick<BackupFacts, 'objects'>,
  hash: boolean,
): Promise<RestoredObjects | undefined> {
  if (config.blobs === null) {
    if (expected === undefined) return undefined;
    throw contentElsewhere(expected.place);
  }
  if (expected === undefined) throw contentInBackup();
  const client = createS3Client(config.blobs);
  try {
    const objects = createS3Objects(client);
    const place = nameOf(config.blobs);
    const mark = await readMark(objects);
    if (mark?.store_id !== expected.storeId) throw objectsOfAnotherStore(place);
    const blobs = createBlobReader(objects, createPlaceCheck(objects, mark.blobs_id));
    return {
      place,
      source: blobs,
      // Most of the time of a request is spent on its way.
      concurrency: hash ? 8 : 64,
      // The objects themselves are the copy. Those that have the right size are not read without `hash`.
      copy: { size: hash ? async () => undefined : blobs.size, remove: async () => undefined, write: digestOf },
      async claim(dataFolder) {
        const blobsId = randomUUID();
        await changeDatabase(config, dataFolder, async (database) => {
          const intents = createBlobIntents(database);
          await intents.keepAll();
          // Other objects belong to files that the lost database had, and later backups may name them.
          const search = { files: createFileRepository(database), blobs, clock: systemClock, grace: -Infinity };
          for await (const { orphans } of findOrphans(search))
            await Promise.all(orphans.map(({ blobId }) => intents.discard(blobId)));
          const store = createStoreRepository(database);
          await store.claimBlobs({ id: blobsId, place }, (await store.readIdentity()).blobsId);
        });
        await writeMark(objects, { store_id: expected.storeId, blobs_id: blobsId });
      },
      close: client.close,
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function changeDatabase(
  { databaseUrl, databaseDurability: durability }: Config,
  dataFolder: string,
  change: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<void>,
): Promise<void> {
  const url = databaseUrl?.reveal() ?? null;
  const logger = createLogger('warn');
  const admission = createAdmission();
  const database = await openDatabase({
    admission,
    url,
    dataFolder,
    mustExist: true,
    logger,
    connections: 2,
    durability,
  });
  try {
    await change(database);
  } finally {
    await database.close();
  }
}

async function digestOf(_blobId: string, content: AsyncIterable<Uint8Array>): Promise<BlobDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of content) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
