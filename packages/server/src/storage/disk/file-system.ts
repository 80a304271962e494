import fs from 'node:fs';
import { promisify } from 'node:util';

/**
 * The system calls of the disk store, on numeric descriptors. A small upload needs five of them. The FileHandle objects
 * of `fs/promises` would cost more than the calls.
 */
export const openFile = promisify(fs.open);
export const closeFile = promisify(fs.close);
export const syncFile = promisify(fs.fsync);
export const renameFile = promisify(fs.rename);
export const unlinkFile = promisify(fs.unlink);

/** Writes all pieces at a position, and repeats partial writes. */
export async function writeAll(fd: number, pieces: readonly Buffer[], position: number): Promise<void> {
  let remaining: readonly Buffer[] = pieces;
  let at = position;
  while (remaining.length > 0) {
    const written = await writeSome(fd, remaining, at);
    at += written;
    remaining = without(remaining, written);
  }
}

function writeSome(fd: number, pieces: readonly Buffer[], position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.writev(fd, pieces, position, (error, written) => {
      if (error) reject(error);
      else resolve(written);
    });
  });
}

function without(pieces: readonly Buffer[], count: number): Buffer[] {
  let skipped = 0;
  let index = 0;
  for (; index < pieces.length; index += 1) {
    const length = pieces[index]?.length ?? 0;
    if (skipped + length > count) break;
    skipped += length;
  }
  const rest = pieces.slice(index);
  if (rest[0] !== undefined) rest[0] = rest[0].subarray(count - skipped);
  return rest;
}

/** Reads into the start of `buffer`, or into a new one. Returns fewer bytes at the end of the file. */
export async function readAt(
  fd: number,
  position: number,
  length: number,
  buffer: Buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  let filled = 0;
  while (filled < length) {
    const count = await new Promise<number>((resolve, reject) => {
      fs.read(fd, buffer, filled, length - filled, position + filled, (error, bytes) => {
        if (error) reject(error);
        else resolve(bytes);
      });
    });
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Removes a file. A missing file is not an error. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlinkFile(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
