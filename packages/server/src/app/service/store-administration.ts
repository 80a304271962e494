import { systemClock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { checkCollection, checkDatabase, repairIndex } from '../../storage/check/check-database.ts';
import { correctCounts } from '../../storage/check/check-vectors.ts';
import type { Database } from '../../storage/database/database.ts';
import { openDiskBlobStore } from '../../storage/disk/disk-blob-store.ts';
import { createBlobRepository } from '../../storage/repositories/blob-repository.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import type { BlobRepository } from '../../stores/files/blob-repository.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { type CheckStoreOptions, checkStore, type StoreReport } from '../../stores/files/maintenance/fsck.ts';
import {
  listQuarantine,
  type QuarantineDeps,
  type QuarantinedBlob,
  type RestoredFile,
  restoreAsFile,
  restoreBlob,
} from '../../stores/files/maintenance/quarantine.ts';
import { createDamageReport } from '../../stores/files/maintenance/report-damage.ts';
import { type SweepResult, sweepOrphans } from '../../stores/files/maintenance/sweep-orphans.ts';

/** The administration of stored content. */
export interface StoreAdministration {
  /** See `checkStore` of `files/maintenance/fsck.ts`. */
  checkStore(options: CheckStoreOptions): Promise<StoreReport>;
  /** Controls the background verification. */
  readonly verification: Pick<BlobRepository, 'findVerification' | 'pauseVerification'>;
  readonly quarantine: {
    list(): AsyncIterable<QuarantinedBlob>;
    /** Deletes all expired blobs, without the limit of the background sweep. */
    sweep(): Promise<SweepResult>;
    restore(blobId: string): Promise<void>;
    restoreAsFile(blobId: string, file: RestoredFile): Promise<string>;
    /** @returns false when the blob does not exist */
    purge(blobId: string): Promise<boolean>;
  };
}

/** @param place the location of the store */
export function administerStore(place: {
  readonly database: Database;
  readonly dataFolder: string;
  readonly logger: Logger;
  /** Throws when the folder does not belong to the database. */
  readonly assertFolder: () => Promise<void>;
}): StoreAdministration {
  const { database, dataFolder, logger, assertFolder } = place;
  const clock = systemClock;
  const [files, damages] = [createFileRepository(database), createBlobRepository(database)];
  const depsOf = (blobs: BlobStore): QuarantineDeps => {
    const reportDamage = createDamageReport({ damages, blobs, clock, logger });
    return { files, damages, reportDamage, blobs, clock, newId: createNewId() };
  };
  const openBlobs = async (): Promise<BlobStore> => {
    await assertFolder();
    return openDiskBlobStore(dataFolder);
  };
  async function withBlobs<T>(work: (deps: QuarantineDeps) => Promise<T>): Promise<T> {
    const blobs = await openBlobs();
    try {
      return await work(depsOf(blobs));
    } finally {
      await blobs.close();
    }
  }
  return {
    checkStore: (options) =>
      withBlobs((deps) => {
        const repair = async (collectionId: string) => {
          await correctCounts(database, collectionId);
          if ((await checkCollection(database, collectionId)).length === 0) return true;
          return repairIndex(database, collectionId);
        };
        const ofDatabase = {
          checkDatabase: () => checkDatabase(database),
          repairIndex: repair,
        };
        return checkStore({ ...deps, ...ofDatabase }, options);
      }),
    verification: damages,
    quarantine: {
      async *list() {
        const blobs = await openBlobs();
        try {
          yield* listQuarantine(depsOf(blobs));
        } finally {
          await blobs.close();
        }
      },
      sweep: () => withBlobs((deps) => sweepOrphans({ ...deps, logger }, true)),
      restore: (blobId) => withBlobs((deps) => restoreBlob(deps, blobId)),
      restoreAsFile: (blobId, file) => withBlobs((deps) => restoreAsFile(deps, blobId, file)),
      purge: (blobId) => withBlobs(({ blobs }) => blobs.quarantine.purge(blobId)),
    },
  };
}
