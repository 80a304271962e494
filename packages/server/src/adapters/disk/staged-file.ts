import { createHash } from 'node:crypto';
import type { BlobDigest, StagedBlob } from '../../files/blob-store.ts';
import { closeFile, openFile, readAt, removeFile, renameFile, syncFile, writeAll } from './file-system.ts';
import type { FileHashing, HashThread } from './hash-thread.ts';
import { diskFailure } from './problems.ts';
import { releaseBuffers } from './release-buffers.ts';
import type { WriteShare } from './write-share.ts';

/** Bytes after which what was written is synced while more arrive, so that the last sync is short. */
const syncDistance = 32 * 1024 * 1024;
const mostPieces = 512;
const nothing = Buffer.alloc(0);

export interface StagedFilePlace {
  readonly blobId: string;
  readonly stagingPath: string;
  readonly blobPath: string;
  readonly hashThread: HashThread;
  /** Bytes gathered before they are written together. A file that fits is first written when it is committed. */
  readonly share: WriteShare;
  /** Resolves when the blob's folder is there, durably. */
  readonly prepareFolder: () => Promise<void>;
  /** Resolves when a rename into the blob's folder, made before the call, is durable. */
  readonly syncFolder: () => Promise<void>;
}

/** One blob on its way to the disk. At most two times its share of writing is in memory. */
export function createStagedFile(place: StagedFilePlace): StagedBlob {
  /** Of a file that is larger than what is gathered; a small one is hashed at once, when it is finished. */
  let hashing: FileHashing | undefined;
  let isHashed = false;
  let bytes = 0;
  let written = 0;
  let synced = 0;
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  let fd: number | undefined;
  /** The one write that runs; its failure is kept in `failure`, so it never rejects. */
  let writing: Promise<void> | undefined;
  let syncing: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let state: 'open' | 'finished' | 'committed' | 'discarded' = 'open';

  function throwFailure(): void {
    if (failure !== undefined) throw diskFailure(failure.error);
  }

  /** A failed write or sync is final: what was in the page cache may be lost, and a second sync would not say so. */
  function keepFailure(error: unknown): void {
    failure ??= { error };
  }

  async function openStaging(): Promise<number> {
    fd ??= await openFile(place.stagingPath, 'wx+', 0o600);
    return fd;
  }

  async function writeGathered(): Promise<void> {
    const pieces = gathered;
    const count = gatheredBytes;
    gathered = [];
    gatheredBytes = 0;
    const into = await openStaging();
    await writeAll(into, pieces, written);
    releaseBuffers(pieces);
    written += count;
    if (isHashed) return;
    hashing ??= place.hashThread.begin(into);
    hashing.advance(written);
  }

  /** A file that was never written is hashed here: at most its share of writing. */
  async function digest(): Promise<string> {
    if (hashing === undefined) {
      const hash = createHash('sha256');
      for (const piece of gathered) hash.update(piece);
      return hash.digest('hex');
    }
    if (gathered.length > 0) startWriting();
    await settle();
    throwFailure();
    const ended = hashing;
    hashing = undefined;
    return ended.end();
  }

  function startWriting(): void {
    writing = writeGathered()
      .catch(keepFailure)
      .then(() => {
        writing = undefined;
        syncBehind();
      });
  }

  function syncBehind(): void {
    if (syncing !== undefined || fd === undefined || failure !== undefined || state !== 'open') return;
    if (written - synced < syncDistance) return;
    synced = written;
    syncing = syncFile(fd)
      .catch(keepFailure)
      .then(() => {
        syncing = undefined;
      });
  }

  async function settle(): Promise<void> {
    while (writing !== undefined || syncing !== undefined) await Promise.all([writing, syncing]);
  }

  async function appendAfterWrite(): Promise<void> {
    await writing;
    throwFailure();
    if (state === 'open' && gatheredBytes >= place.share.size()) startWriting();
  }

  async function close(): Promise<void> {
    if (fd === undefined) return;
    // The thread may still be reading; what it finds does not matter any more.
    await hashing?.end().catch(() => undefined);
    hashing = undefined;
    const closing = fd;
    fd = undefined;
    await closeFile(closing);
  }

  async function removeStaging(): Promise<void> {
    await settle();
    const made = fd !== undefined;
    await close();
    if (made) await removeFile(place.stagingPath);
    gathered = [];
    place.share.leave();
  }

  async function makeDurable(): Promise<void> {
    if (gathered.length > 0 || fd === undefined) await writeGathered();
    await syncFile(await openStaging());
    await place.prepareFolder();
    await renameFile(place.stagingPath, place.blobPath);
    try {
      await Promise.all([place.syncFolder(), close()]);
    } catch (error) {
      await removeFile(place.blobPath);
      throw error;
    }
  }

  return {
    blobId: place.blobId,
    append(piece) {
      throwFailure();
      bytes += piece.length;
      gathered.push(piece);
      gatheredBytes += piece.length;
      if (gatheredBytes < place.share.size() && gathered.length < mostPieces) return undefined;
      if (writing !== undefined) return appendAfterWrite();
      startWriting();
      return undefined;
    },
    async finish(): Promise<BlobDigest> {
      state = 'finished';
      await settle();
      throwFailure();
      const sha256 = await digest();
      isHashed = true;
      return { bytes, sha256 };
    },
    async read(position, length) {
      const wanted = Math.min(length, Math.max(0, bytes - position));
      if (written > 0 && gathered.length > 0) startWriting();
      await settle();
      throwFailure();
      if (written > 0) return readAt(await openStaging(), position, wanted);
      gathered = [gathered.length === 1 ? (gathered[0] ?? nothing) : Buffer.concat(gathered)];
      return (gathered[0] ?? nothing).subarray(position, position + wanted);
    },
    async commit() {
      try {
        await makeDurable();
        state = 'committed';
        place.share.leave();
      } catch (error) {
        keepFailure(error);
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
