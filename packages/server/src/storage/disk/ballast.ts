import { randomBytes } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/log/logger.ts';

/**
 * A file that reserves disk space. It is deleted when the disk is full, so that the database can still delete rows and
 * start. Source: ADR 0075.
 */
export interface Ballast {
  /** Deletes the file when less than `releaseBelow` bytes are free, and creates it when there is enough space. */
  adjust(freeBytes: number): Promise<void>;
  /** True while the reserved space is in use. New work should not start then. */
  isReleased(): boolean;
  /** While the reserved space is in use: the bytes that must become free before it is reserved again. */
  missingBytes(freeBytes: number): number;
}

export interface BallastOptions {
  readonly folder: string;
  readonly bytes: number;
  /** The file is created only if this many bytes remain free afterwards. */
  readonly remaining: number;
  /** Milliseconds after the start until the file is created, so that short-lived services do not write it. */
  readonly delayMs?: number;
  readonly logger: Logger;
}

const largestBallast = 64 * 2 ** 20;
/** The part of a small disk that the file may take. More would leave too little for the files of users. */
const largestPart = 1 / 4;

/** Returns the size of the file for a disk of this size. */
export function ballastBytes(diskBytes: number): number {
  return Math.min(largestBallast, Math.floor(diskBytes * largestPart));
}

/** At start, the database may have to write its log to the database file. The part is 48 MiB of the largest file. */
const neededToStart = 3 / 4;
/** The part is 8 MiB of the largest file. */
const releaseBelow = 1 / 8;
const blockBytes = 2 ** 20;

/**
 * Opens the ballast.
 * @param freeNow bytes that are free before the database opens; with too few, the file is deleted immediately
 */
export async function openBallast(options: BallastOptions, freeNow: number): Promise<Ballast> {
  const { folder, bytes, remaining, delayMs = 10_000, logger } = options;
  const path = join(folder, 'ballast');
  const openedAt = performance.now();
  /** Null when there is no file. A file that a crash truncated is smaller and is deleted like a complete one. */
  let size = await sizeOf(path);
  let released = false;

  async function release(free: number): Promise<void> {
    await rm(path, { force: true });
    size = null;
    released = true;
    logger.warn({ free_bytes: free, ballast_bytes: bytes }, 'ballast released: the disk is full');
  }
  async function create(): Promise<void> {
    try {
      await fill(path, bytes);
    } catch (error) {
      await rm(path, { force: true });
      size = null;
      throw error;
    }
    size = bytes;
    released = false;
    logger.info({ ballast_bytes: bytes }, 'ballast created');
  }

  if (size !== null && freeNow < bytes * neededToStart) await release(freeNow);
  return {
    isReleased: () => released,
    missingBytes: (free) => (released ? Math.max(0, bytes + remaining - free) : 0),
    async adjust(free) {
      const missing = bytes - (size ?? 0);
      if (size !== null && free < bytes * releaseBelow) await release(free);
      else if (missing !== 0 && free >= missing + remaining && performance.now() - openedAt >= delayMs) await create();
    },
  };
}

/** Writes random bytes, because a compressing file system would allocate no space for zeros. */
async function fill(path: string, bytes: number): Promise<void> {
  const block = randomBytes(blockBytes);
  const file = await open(path, 'w', 0o600);
  try {
    for (let written = 0; written < bytes; written += blockBytes) await file.write(block);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch {
    return null;
  }
}
