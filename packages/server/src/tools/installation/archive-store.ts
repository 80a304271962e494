import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/identifier.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { commitFiles, discardStaged } from '../../stores/files/commit-files.ts';
import { finishDeleting } from '../../stores/files/delete-file.ts';
import { type FileRepository, noFileLimits, type StoredArchive } from '../../stores/files/file-repository.ts';
import { readStored, type VerifiedContentDeps } from '../../stores/files/maintenance/verified-content.ts';
import { type OpenedArchive, openArchive } from '../packaging/archive.ts';
import type { ArchiveRepository } from './archive-repository.ts';

export interface ArchiveStoreDeps extends VerifiedContentDeps {
  readonly archives: ArchiveRepository;
  readonly files: Pick<FileRepository, 'add' | 'startDelete' | 'finishDelete'>;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

/** Stores the archives of bundles: bytes as a blob, and a row. */
export type ArchiveStore = ReturnType<typeof createArchiveStore>;

export function createArchiveStore(deps: ArchiveStoreDeps) {
  const { archives, files, blobs, clock, newId, logger } = deps;
  return {
    list: archives.list,
    installedIds: archives.installedIds,
    /** Stores the bytes durably, then the row. When the process ends between them, the sweep of orphans removes the bytes. */
    async add(bytes: Buffer, about: Pick<StoredArchive, 'bundleId' | 'facts' | 'expiresAt'>): Promise<StoredArchive> {
      await blobs.checkRoom();
      const blob = blobs.stage(newId('blob'));
      try {
        // A copy, because the store frees the memory of what it writes.
        await blob.append(Buffer.from(bytes));
        const digest = await blob.finish();
        await blob.commit();
        const file = { id: newId('bundleArchive'), projectId: null, blobId: blob.blobId, ...digest, ...about };
        const stored = { ...file, name: `${about.bundleId}.qmb`, createdAt: clock.now() };
        const isStored = async (other: { blobId: string; bytes: number }) =>
          (await blobs.size(other.blobId)) === other.bytes;
        const add = () => files.add([{ file: stored, claim: null }], noFileLimits, isStored);
        const [outcome] = await commitFiles({ blobs, logger }, [stored], add);
        if (outcome?.kind !== 'added') throw new Error(`The archive was not stored: ${outcome?.kind}.`);
        return { ...stored, blobId: outcome.blobId };
      } finally {
        await discardStaged(logger, blob);
      }
    },
    async read(archive: StoredArchive): Promise<OpenedArchive> {
      return await openArchive(Buffer.concat(await Array.fromAsync(readStored(deps, archive))));
    },
    /** The task "finish deletes" completes a delete whose bytes cannot be removed now. */
    async remove({ id }: StoredArchive): Promise<void> {
      const deleting = await files.startDelete(null, id);
      if (typeof deleting === 'string') return;
      await finishDeleting({ files, blobs }, deleting).catch((err: unknown) =>
        logger.error({ err, archive_id: id }, 'delete not finished'),
      );
    },
  };
}
