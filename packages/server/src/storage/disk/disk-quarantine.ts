import fs, { createReadStream } from 'node:fs';
import { opendir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import { isId } from '../../platform/identifier.ts';
import {
  BlobMissing,
  type BlobQuarantine,
  type ByteRange,
  type OpenedBlob,
  type StoredBlob,
} from '../../stores/files/blob-store.ts';
import { isMissing, openFile, removeFile, renameFile } from './file-system.ts';
import { diskFailure, readFailure } from './problems.ts';

const sizeOfFile = promisify(fs.fstat);

export interface QuarantinePlace {
  readonly folder: string;
  /** Returns the path of a blob, and checks the id. */
  readonly pathOf: (blobId: string) => string;
  /** Resolves when the folder of the blob exists. */
  readonly prepareFolder: (blobId: string) => Promise<void>;
  /** Resolves when the names in the folder of the blob are durable. */
  readonly syncFolder: (blobId: string) => Promise<void>;
}

/** Holds blobs as `<folder>/<blobId>`. The modification time of a file is the time of its move. */
export function createDiskQuarantine({ folder, pathOf, prepareFolder, syncFolder }: QuarantinePlace): BlobQuarantine {
  const heldPath = (blobId: string) => {
    pathOf(blobId);
    return join(folder, blobId);
  };
  return {
    async add(blobId) {
      const path = pathOf(blobId);
      try {
        const now = new Date();
        await utimes(path, now, now);
        await renameFile(path, heldPath(blobId));
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
      await syncToDisk(folder);
      return true;
    },
    async restore(blobId) {
      const [from, to] = [heldPath(blobId), pathOf(blobId)];
      if (!(await isThere(from))) return 'absent';
      if (await isThere(to)) return 'exists';
      const now = new Date();
      await utimes(from, now, now);
      await prepareFolder(blobId);
      await renameFile(from, to);
      await syncFolder(blobId);
      return 'restored';
    },
    purge: (blobId) => removeFile(heldPath(blobId)),
    open: async (blobId) => readBlob(heldPath(blobId), blobId),
    list: () => listFolder(folder),
  };
}

/** Erases the oldest blobs first until `isEnough` returns true. @returns their ids */
export async function emptyOldestFirst(
  quarantine: Pick<BlobQuarantine, 'list' | 'purge'>,
  isEnough: () => Promise<boolean>,
): Promise<readonly string[]> {
  const found: StoredBlob[] = [];
  for await (const blob of quarantine.list()) found.push(blob);
  found.sort((a, b) => a.modifiedAt - b.modifiedAt);
  const removed: string[] = [];
  for (const { blobId } of found) {
    if (await isEnough()) break;
    if (await quarantine.purge(blobId)) removed.push(blobId);
  }
  return removed;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Lists every blob in a folder. */
export async function* listFolder(folder: string): AsyncGenerator<StoredBlob> {
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (!entry.isFile() || !isId(entry.name)) continue;
    try {
      const found = await stat(join(folder, entry.name));
      yield { blobId: entry.name, bytes: found.size, modifiedAt: found.mtimeMs };
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

/**
 * Opens the bytes of a blob. Opening and reading fail with the same errors.
 * @throws BlobMissing, BlobUnreadable, or SERVICE_UNAVAILABLE when the disk fails
 */
export async function readBlob(path: string, blobId: string, range?: ByteRange): Promise<OpenedBlob> {
  try {
    const fd = await openFile(path, 'r');
    const stream = createReadStream('', { fd, fs: reading, highWaterMark: 256 * 1024, ...range });
    return Object.assign(stream, { blobBytes: (await sizeOfFile(fd)).size });
  } catch (error) {
    throw isMissing(error) ? new BlobMissing(blobId) : diskFailure(readFailure(error));
  }
}

/** The file operations of a blob stream. A failed read is reported as a disk failure. */
const reading = {
  open: fs.open,
  close: fs.close,
  read: (fd: number, buffer: Buffer, offset: number, length: number, position: number | null, done: ReadDone) =>
    fs.read(fd, buffer, offset, length, position, (error, bytes, filled) =>
      done(error === null ? null : (diskFailure(readFailure(error)) as Error), bytes, filled),
    ),
};
type ReadDone = (error: Error | null, bytes: number, buffer: Buffer) => void;
