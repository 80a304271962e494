import fs, { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { BlobMissing, type ByteRange } from '../../stores/files/blob-store.ts';
import { isMissing, openFile } from './file-system.ts';
import { diskFailure, readFailure } from './problems.ts';

/**
 * Opens the bytes of a blob. Opening and reading fail with the same errors.
 * @throws BlobMissing, BlobUnreadable, or SERVICE_UNAVAILABLE when the disk fails
 */
export async function readBlob(path: string, blobId: string, range?: ByteRange): Promise<Readable> {
  try {
    const fd = await openFile(path, 'r');
    return createReadStream('', { fd, fs: reading, highWaterMark: 256 * 1024, ...range });
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
