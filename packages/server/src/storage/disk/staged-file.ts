import { createHash } from 'node:crypto';
import type { BlobDigest, StagedBlob } from '../../stores/files/blob-store.ts';
import { renameFile } from './file-system.ts';
import { diskFailure } from './problems.ts';
import { createStagingFile, type Gathered } from './staging-file.ts';

/** The number of bytes that are gathered before one write. A smaller file is written only at its commit. */
const writeBytes = 256 * 1024;
const mostPieces = 512;
const nothing = Buffer.alloc(0);

export interface StagedFilePlace {
  readonly blobId: string;
  readonly stagingPath: string;
  readonly blobPath: string;
  /** Resolves when the blob's folder exists durably. */
  readonly prepareFolder: () => Promise<void>;
  /** Resolves when a rename into the blob's folder before the call is durable. */
  readonly syncFolder: () => Promise<void>;
}

/**
 * A blob that is being written to the disk. It holds about 512 KiB in memory: the bytes being written and those
 * arriving in the meantime.
 */
export function createStagedFile(place: StagedFilePlace): StagedBlob {
  const file = createStagingFile(place.stagingPath);
  const hash = createHash('sha256');
  let bytes = 0;
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  let state: 'open' | 'finished' | 'committed' | 'discarded' = 'open';

  function takeGathered(): Gathered {
    const taken = { pieces: gathered, bytes: gatheredBytes };
    gathered = [];
    gatheredBytes = 0;
    return taken;
  }

  async function appendAfterWrite(): Promise<void> {
    await file.writing();
    file.throwFailure();
    if (state === 'open' && gatheredBytes >= writeBytes) file.writeBehind(takeGathered());
  }

  /** Appends the gathered bytes to those already written. A file without any write stays in memory. */
  async function backfill(): Promise<void> {
    if (file.written() > 0 && gathered.length > 0) file.writeBehind(takeGathered());
    await file.settle();
    file.throwFailure();
  }

  async function removeStaging(): Promise<void> {
    await file.remove();
    gathered = [];
  }

  async function persist(): Promise<void> {
    if (gathered.length > 0 || !file.isThere()) await file.write(takeGathered());
    await file.sync();
    await place.prepareFolder();
    await renameFile(place.stagingPath, place.blobPath);
    // After a failed sync of the folder it is unknown whether the name is durable, so nothing is deleted.
    await Promise.all([place.syncFolder(), file.close()]);
  }

  return {
    blobId: place.blobId,
    append(piece) {
      file.throwFailure();
      // Before the write, which frees the buffer.
      hash.update(piece);
      bytes += piece.length;
      gathered.push(piece);
      gatheredBytes += piece.length;
      if (gatheredBytes < writeBytes && gathered.length < mostPieces) return undefined;
      if (file.writing() !== undefined) return appendAfterWrite();
      file.writeBehind(takeGathered());
      return undefined;
    },
    async finish(): Promise<BlobDigest> {
      state = 'finished';
      await file.settle();
      await backfill();
      return { bytes, sha256: hash.digest('hex') };
    },
    async read(position, length) {
      const wanted = Math.min(length, Math.max(0, bytes - position));
      await backfill();
      if (file.written() > 0) return file.read(position, wanted);
      gathered = [gathered.length === 1 ? (gathered[0] ?? nothing) : Buffer.concat(gathered)];
      return (gathered[0] ?? nothing).subarray(position, position + wanted);
    },
    async commit() {
      try {
        await persist();
        state = 'committed';
      } catch (error) {
        file.keepFailure(error);
        await removeStaging();
        throw diskFailure(error);
      }
    },
    async discard() {
      if (state === 'committed' || state === 'discarded') return;
      state = 'discarded';
      await removeStaging();
    },
  };
}
