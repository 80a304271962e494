import { join } from 'node:path';
import { createLogger } from '../../platform/log/logger.ts';
import { readProject } from '../../platform/project-text.ts';
import type { RowDatabase } from '../../storage/database/copy-tables.ts';
import type { Database } from '../../storage/database/database.ts';
import { openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import { assertContentInFolder } from '../../storage/s3/claim-place.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { assertDataFolder } from '../../stores/files/store-identity.ts';
import { type BackupFault, type CopyDeps, type CopyProgress, copyBlobs } from '../backup/backup.ts';
import { writeBlobList } from '../backup/blob-list.ts';
import { moveListFile, sourceDamaged } from '../backup/moved-store.ts';
import { openBlobStore } from '../service/open-blobs.ts';
import type { Config } from '../settings/config.ts';

/** What a caller of `moveStore` decides about the content. */
export interface ContentOptions {
  /** Whether to move a store with missing or changed content. */
  readonly damaged: boolean;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** The database of a stopped store. */
export interface Source extends RowDatabase {
  readonly storeId: string;
}

export interface MoveContext {
  readonly from: Config;
  readonly to: Config;
  readonly source: Source;
  readonly target: Database;
  readonly resources: AsyncDisposableStack;
  readonly options: ContentOptions;
}

export interface Content extends Pick<CopyDeps, 'source'> {
  readonly copy: CopyDeps['copy'] & CopyDeps['source'];
}

/** Opens the content of source and target. Object storage of the target is claimed for the store. */
export async function openContent({ from, to, source, target, resources }: MoveContext): Promise<Content> {
  const store = createStoreRepository({ write: source.db });
  const logger = createLogger('silent');
  const openObjects = async (blobs: Config['blobs'], database: Database, claims: boolean) => {
    // The staging files of source and target are in the folder of the target.
    const opened = await openBlobStore({ config: { blobs, dataFolder: to.dataFolder }, database, logger }, { claims });
    resources.defer(opened.blobs.close);
    return opened.blobs;
  };
  if (from.blobs === null) {
    await assertContentInFolder(store);
    await assertDataFolder(from.dataFolder, store);
  }
  return {
    source:
      from.blobs === null
        ? openBlobFolder(from.dataFolder)
        : await openObjects(from.blobs, { ...target, read: source.db, write: source.db }, false),
    copy: to.blobs === null ? openBlobFolder(to.dataFolder) : copyInto(await openObjects(to.blobs, target, true)),
  };
}

/** Writes blobs into object storage. */
function copyInto(blobs: BlobStore): Content['copy'] {
  return {
    open: blobs.open,
    size: blobs.size,
    remove: blobs.remove,
    async write(blobId, content) {
      const staged = blobs.stage(blobId);
      try {
        for await (const piece of content)
          await staged.append(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
        const digest = await staged.finish();
        await staged.commit();
        return digest;
      } finally {
        await staged.discard();
      }
    },
  };
}

export async function copyContent({ to, source, target, options }: MoveContext, content: Content) {
  const listFile = join(to.dataFolder, moveListFile);
  const liveBlobs = async (after: string, limit: number) => {
    const blobs = source.db.selectFrom('blob').select(['id', 'project_id', 'bytes', 'sha256']);
    const live = blobs.where('state', '=', 'live').where('id', '>', after).orderBy('id').limit(limit);
    return (await live.execute()).map(({ id: blobId, project_id, bytes, sha256 }) => {
      return { blobId, projectId: readProject(project_id), bytes, sha256, files: [] };
    });
  };
  const totals = await writeBlobList(listFile, { liveBlobs });
  // No sweep runs before the move ends. An interrupted attempt has left its rows.
  await target.write.deleteFrom('blob_intent').execute();
  const found = await copyBlobs(
    { ...content, listFile, onProgress: options.onProgress, openCopy: content.copy.open },
    totals,
  );
  await target.write.deleteFrom('blob_intent').execute();
  const faults = await Promise.all(found.faults.map((fault) => nameFiles(source, fault)));
  if (faults.length > 0 && !options.damaged) throw sourceDamaged(faults);
  return { ...totals, faults };
}

async function nameFiles({ db }: RowDatabase, fault: BackupFault): Promise<BackupFault> {
  const files = db.selectFrom('file').select(['id as fileId', 'name']).where('blob_id', '=', fault.blobId);
  return { ...fault, files: await files.where('state', '=', 'live').orderBy('id').limit(10).execute() };
}
