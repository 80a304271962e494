import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../platform/disk/replace-file.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';
import type { FileRepository } from './file-repository.ts';
import {
  bytesOfAnotherDatabase,
  folderOfAnotherDatabase,
  notTheDataFolder,
  rowsOfAnotherFolder,
  secondFolder,
} from './problems.ts';

export interface ClaimDeps {
  readonly store: StoreIdentityRepository;
  readonly files: Pick<FileRepository, 'knownBlobs' | 'liveBlobs'>;
  /** The content in the folder; null when it is in object storage. */
  readonly blobs: (Pick<BlobStore, 'size'> & { list(): AsyncIterable<Pick<StoredBlob, 'blobId'>> }) | null;
  /** True for SQLite, whose database is in the folder. A copy of the folder is then an independent store. */
  readonly isDatabaseInFolder: boolean;
}

/**
 * This file in the data folder identifies the store and the folder. It is written without a store id before the folder
 * is claimed.
 */
export const identityFile = 'store.json';

/**
 * Checks that the data folder and the database belong together before anything is created in either. The first start
 * claims the folder. Otherwise bytes without a row would be quarantined, and bytes in another folder would not be
 * found. Source: ADR 0068.
 * @returns the id of the folder
 * @throws Error when the database has another data folder, or the folder another database
 */
export async function claimDataFolder(folder: string, deps: ClaimDeps): Promise<string> {
  const { store, isDatabaseInFolder } = deps;
  const found = await readIdentityFile(folder);
  const { storeId, folderId } = await store.readIdentity();
  if (found.storeId !== undefined) {
    if (found.storeId !== storeId) throw folderOfAnotherDatabase(folder, join(folder, identityFile));
    if (folderId !== null && hasId(found, folderId)) return folderId;
  }
  if (folderId !== null && !hasId(found, folderId) && !isDatabaseInFolder) {
    throw secondFolder(folder, join(folder, identityFile), { store_id: storeId, folder_id: folderId });
  }
  if (found.storeId === undefined) await assertSameContent(folder, { storeId, ...deps });
  const claimed = found.folderId ?? randomUUID();
  // The file is written first, so that the next start with the same folder finishes an interrupted claim.
  await writeIdentityFile(folder, { folder_id: claimed });
  if (!(await store.claimFolder(claimed, folderId))) {
    await rm(join(folder, identityFile));
    const { folderId: other } = await store.readIdentity();
    throw secondFolder(folder, join(folder, identityFile), { store_id: storeId, folder_id: other });
  }
  await writeIdentityFile(folder, { store_id: storeId, folder_id: claimed });
  return claimed;
}

/**
 * Checks, before the database of a new store is created, that no other store has the folder.
 * @throws Error when its identity file names a store, or when it has files
 */
export async function assertUnusedFolder(folder: string, blobs: NonNullable<ClaimDeps['blobs']>): Promise<void> {
  if ((await readIdentityFile(folder)).storeId !== undefined) {
    throw folderOfAnotherDatabase(folder, join(folder, identityFile));
  }
  if ((await firstOf(blobs.list())).length > 0) throw bytesOfAnotherDatabase(folder);
}

/**
 * Replaces the id of the data folder, so that other copies of the folder are refused. The caller changes the row of the
 * store between the two steps. After a crash between them, the folder has both ids.
 */
export const folderIds = {
  /** @param claimedId the id in the row of the store. After an earlier crash, the file has it as the previous id. */
  async prepare(folder: string, { claimedId, newId }: { claimedId: string; newId: string }): Promise<void> {
    const { storeId } = await readIdentityFile(folder);
    await writeIdentityFile(folder, { store_id: storeId, folder_id: newId, previous_folder_id: claimedId });
  },
  async finish(folder: string, newId: string): Promise<void> {
    const { storeId } = await readIdentityFile(folder);
    await writeIdentityFile(folder, { store_id: storeId, folder_id: newId });
  },
};

/**
 * Checks before a command reads or writes the data folder that the folder belongs to the store. Changes nothing. A
 * store without a claimed folder is accepted, because no files address has started with it.
 * @throws Error when the store has another data folder
 */
export async function assertDataFolder(
  folder: string,
  store: Pick<StoreIdentityRepository, 'readIdentity'>,
): Promise<void> {
  const { folderId } = await store.readIdentity();
  await assertFolderId(folder, folderId);
}

/** @throws Error when the folder has another id. A store with no id is accepted. */
export async function assertFolderId(folder: string, folderId: string | null): Promise<void> {
  if (folderId === null || hasId(await readIdentityFile(folder), folderId)) return;
  throw notTheDataFolder(folder, identityFile);
}

/** Returns whether a files address of this store has claimed the folder. Changes nothing. */
export async function isDataFolder(
  folder: string,
  store: Pick<StoreIdentityRepository, 'readIdentity'>,
): Promise<boolean> {
  const { folderId } = await store.readIdentity();
  return folderId !== null && hasId(await readIdentityFile(folder), folderId);
}

/** Checks a folder without a complete identity file: a new folder, or a restored one. */
async function assertSameContent(
  folder: string,
  { storeId, files, blobs }: ClaimDeps & { readonly storeId: string },
): Promise<void> {
  if (blobs === null) return;
  const found = await firstOf(blobs.list());
  const known = await files.knownBlobs(found.map(({ blobId }) => blobId));
  if (found.length > 0 && known.size === 0) throw bytesOfAnotherDatabase(folder);
  const rows = await files.liveBlobs('', sample);
  const sizes = await Promise.all(rows.map(({ blobId }) => blobs.size(blobId)));
  if (rows.length > 0 && sizes.every((size) => size === undefined)) {
    throw rowsOfAnotherFolder(folder, join(folder, identityFile), { store_id: storeId });
  }
}

/** The number of blobs and rows to compare. Some may be missing or left over, but not all. */
const sample = 100;

async function firstOf<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of list) {
    found.push(item);
    if (found.length === sample) break;
  }
  return found;
}

interface FoundIdentity {
  readonly storeId?: string;
  readonly folderId?: string;
  /** Set while the id of the folder is being replaced. */
  readonly previousFolderId?: string;
}

function hasId({ folderId, previousFolderId }: FoundIdentity, wanted: string): boolean {
  return folderId === wanted || previousFolderId === wanted;
}

async function readIdentityFile(folder: string): Promise<FoundIdentity> {
  const text = await readIfThere(join(folder, identityFile));
  if (text === undefined) return {};
  // This file writes the JSON below. A file that is not JSON stops the start.
  const { store_id, folder_id, previous_folder_id } = JSON.parse(text) as {
    store_id?: string;
    folder_id?: string;
    previous_folder_id?: string;
  };
  return {
    ...(store_id && { storeId: store_id }),
    ...(folder_id && { folderId: folder_id }),
    ...(previous_folder_id && { previousFolderId: previous_folder_id }),
  };
}

async function writeIdentityFile(folder: string, identity: object): Promise<void> {
  await replaceFile(join(folder, identityFile), `${JSON.stringify(identity)}\n`, 0o600);
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Stores which data folder belongs to the database. */
export interface StoreIdentityRepository {
  readIdentity(): Promise<StoreIdentity>;
  /**
   * Sets the data folder of the store if the current one is `replaced`; null means none.
   * @returns whether the folder now belongs to the store; of several concurrent claims, one succeeds
   */
  claimFolder(folderId: string, replaced: string | null): Promise<boolean>;
  /** Sets the object storage of the store if the current id is `replaced`. @returns whether it is that of the store now */
  claimBlobs(blobs: { readonly id: string; readonly place: string }, replaced: string | null): Promise<boolean>;
}

interface StoreIdentity {
  readonly storeId: string;
  /** Null until a process that serves files has started. */
  readonly folderId: string | null;
  /** The id of the object storage with the content; null while the data folder has it. */
  readonly blobsId: string | null;
  /** The object storage at the last start. */
  readonly blobsPlace: string | null;
}
