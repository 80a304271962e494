import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { exists } from '../../platform/disk/exists.ts';
import { type BlobDigest, BlobMissing } from '../../stores/files/blob-store.ts';
import { bucketOf, listBlobs, sizeOf } from './disk-blob-store.ts';
import { closeFile, isMissing, openFile, removeFile, writeAll } from './file-system.ts';
import { readFailure } from './problems.ts';

/** The blobs of a data folder or of a backup that no service writes to. Only `write` and `remove` change it. */
export interface BlobFolder {
  /** @throws BlobMissing or BlobUnreadable, also later while the bytes are read */
  open(blobId: string): Promise<AsyncIterable<Uint8Array>>;
  size(blobId: string): Promise<number | undefined>;
  list(): AsyncIterable<{ readonly blobId: string }>;
  remove(blobId: string): Promise<void>;
  /** Writes a blob without a sync. A caller that needs durability syncs the whole folder afterwards. */
  write(blobId: string, content: AsyncIterable<Uint8Array>): Promise<BlobDigest>;
}

const readFile = promisify(fs.read);
const statFile = promisify(fs.fstat);
const largestPiece = 2 ** 20;

export function openBlobFolder(folder: string): BlobFolder {
  const blobs = join(folder, 'blobs');
  const pathOf = (blobId: string) => join(blobs, bucketOf(blobId), blobId);
  const buckets = new Set<string>();
  return {
    async open(blobId) {
      try {
        return readPieces(await openFile(pathOf(blobId), 'r'));
      } catch (error) {
        throw isMissing(error) ? new BlobMissing(blobId) : readFailure(error);
      }
    },
    size: (blobId) => sizeOf(pathOf(blobId)),
    list: () => listIfThere(blobs),
    remove: async (blobId) => {
      await removeFile(pathOf(blobId));
    },
    async write(blobId, content) {
      const path = pathOf(blobId);
      const bucket = dirname(path);
      if (!buckets.has(bucket)) await mkdir(bucket, { recursive: true, mode: 0o700 });
      buckets.add(bucket);
      return await writePieces(path, content);
    },
  };
}

/** Lists nothing for a folder that no service has used yet. */
async function* listIfThere(blobs: string): AsyncGenerator<{ readonly blobId: string }> {
  if (await exists(blobs)) yield* listBlobs(blobs);
}

async function* readPieces(fd: number): AsyncGenerator<Uint8Array> {
  try {
    const { size } = await statFile(fd);
    for (;;) {
      const piece = Buffer.allocUnsafe(Math.min(largestPiece, size + 1));
      const { bytesRead } = await readFile(fd, piece, 0, piece.length, null).catch((error: unknown) => {
        throw readFailure(error);
      });
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
      // A short read means the end, because no process writes to the file.
      if (bytesRead < piece.length) return;
    }
  } finally {
    await closeFile(fd);
  }
}

async function writePieces(path: string, content: AsyncIterable<Uint8Array>): Promise<BlobDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  const fd = await openFile(path, 'w', 0o600);
  try {
    for await (const piece of content) {
      hash.update(piece);
      await writeAll(fd, [Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)], bytes);
      bytes += piece.length;
    }
  } finally {
    await closeFile(fd);
  }
  return { bytes, sha256: hash.digest('hex') };
}
