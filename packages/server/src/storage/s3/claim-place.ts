import { createHash } from 'node:crypto';
import { OperatorError, operatorErrorsOf } from '../../platform/server-process/operator-error.ts';
import type { StoreIdentityRepository } from '../../stores/files/store-identity.ts';
import { markKey, readMark, writeMark } from './s3-blob-store.ts';
import type { S3Place } from './s3-client.ts';
import type { S3Objects } from './s3-objects.ts';

export interface ClaimPlaceDeps {
  readonly objects: Pick<S3Objects, 'put' | 'read'>;
  readonly store: Pick<StoreIdentityRepository, 'readIdentity' | 'claimBlobs'>;
  /** For messages. */
  readonly place: string;
  /** Whether an unused place may be claimed. A command must not: only the service knows its settings. */
  readonly claims: boolean;
  /** Whether the store has files. */
  readonly hasFiles: () => Promise<boolean>;
}

export const nameOf = ({ bucket, prefix }: S3Place) => `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;

/**
 * Checks that the object storage and the database belong together: the row of the store and the object `store.json` name each other.
 * The first start claims a place. A bucket that was copied or renamed keeps its mark, so it is accepted.
 * @returns the id in the mark
 * @throws OperatorError when they do not
 */
export async function claimPlace({ objects, store, place, claims, hasFiles }: ClaimPlaceDeps): Promise<string> {
  const { storeId, blobsId, blobsPlace } = await store.readIdentity();
  const mark = await readMark(objects);
  if (mark !== undefined && mark.store_id !== storeId) throw placeOfAnotherStore(place, markKey);
  if (blobsId !== null && mark?.blobs_id !== blobsId) throw notThePlace(place, blobsPlace ?? '', markKey);
  if (blobsId !== null && (blobsPlace === place || !claims)) return blobsId;
  if (!claims) throw placeNotClaimed(place);
  if (blobsId === null && (await hasFiles())) throw contentInFolder(place);
  // Nodes that start at the same time write the same mark.
  const claimed = mark?.blobs_id ?? createHash('sha256').update(`${storeId} ${place}`).digest('hex').slice(0, 32);
  // The object is written first, so that the next start finishes an interrupted claim.
  if (mark === undefined) await writeMark(objects, { store_id: storeId, blobs_id: claimed });
  // Another store may have claimed the place at the same time. Its mark has replaced this one, or will be refused.
  if ((await readMark(objects))?.blobs_id !== claimed) throw placeOfAnotherStore(place, markKey);
  if (!(await store.claimBlobs({ id: claimed, place }, blobsId))) throw notThePlace(place, 'another place', markKey);
  return claimed;
}

/**
 * Checks, before the tables of a new store are created, that no other store has the place.
 * @throws OperatorError when one has, or when the storage does not answer
 */
export async function assertUnclaimed({
  objects,
  place,
  claims,
}: Pick<ClaimPlaceDeps, 'place' | 'claims'> & { readonly objects: Pick<S3Objects, 'read'> }): Promise<void> {
  const mark = await readMark(objects).catch((error: Error) => {
    throw new OperatorError(error.message, { cause: error.cause });
  });
  if (mark !== undefined) throw placeOfAnotherStore(place, markKey);
  if (!claims) throw placeNotClaimed(place);
}

/** @throws OperatorError when the content of the store is in object storage */
export async function assertContentInFolder(store: Pick<StoreIdentityRepository, 'readIdentity'>): Promise<void> {
  const { blobsId, blobsPlace } = await store.readIdentity();
  if (blobsId !== null) throw contentInObjectStorage(blobsPlace ?? '');
}

const { placeOfAnotherStore, notThePlace, placeNotClaimed, contentInFolder, contentInObjectStorage } = operatorErrorsOf(
  {
    placeOfAnotherStore: (place: string, mark: string) =>
      `${place} belongs to another store: its ${mark} names another database. Set QUARTERMASTER_BLOBS to a place of its own, or correct QUARTERMASTER_DATA and QUARTERMASTER_DATABASE_URL.`,
    notThePlace: (place: string, recorded: string, mark: string) =>
      recorded === place
        ? `${place} does not hold the content of this store any more: its ${mark} is missing, or another store has claimed it, for example a restored backup.`
        : `${place} does not hold the content of this store, which is in ${recorded}: its ${mark} is missing or another one. Correct QUARTERMASTER_BLOBS. If the objects were copied, copy ${mark}, too.`,
    placeNotClaimed: (place: string) =>
      `No service has used ${place} for this store. Start the service with QUARTERMASTER_BLOBS first.`,
    contentInFolder: (place: string) =>
      `The content of this store is in its data folder, so it cannot use ${place}. Unset QUARTERMASTER_BLOBS, or copy the store to object storage: docs/guides/moving.md.`,
    contentInObjectStorage: (place: string) =>
      `The content of this store is in the object storage ${place}. Set QUARTERMASTER_BLOBS to it.`,
  },
);
