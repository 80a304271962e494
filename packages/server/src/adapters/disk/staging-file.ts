import { closeFile, openFile, readAt, removeFile, syncFile, writeAll } from './file-system.ts';
import type { FileHashing, HashThread } from './hash-thread.ts';
import { diskFailure } from './problems.ts';
import { releaseBuffers } from './release-buffers.ts';

/** The written bytes are synced at this interval while more arrive, so that the last sync is short. */
const syncDistance = 32 * 1024 * 1024;

/** Buffers that are written together. */
export interface Gathered {
  readonly pieces: Buffer[];
  readonly bytes: number;
}

/** The file that receives a blob while it arrives. The first write creates it. One write runs at a time. */
export interface StagingFile {
  written(): number;
  isThere(): boolean;
  /** The current background write; it never rejects. */
  writing(): Promise<void> | undefined;
  write(gathered: Gathered): Promise<void>;
  /**
   * Writes in the background and syncs at intervals while more bytes are gathered. A failure is kept for
   * `throwFailure`.
   */
  writeBehind(gathered: Gathered): void;
  /** Signals that no more bytes arrive, so the final sync covers the rest. */
  endArrival(): void;
  /** Resolves when no background write is running. */
  settle(): Promise<void>;
  /** Returns the SHA-256 of all written bytes; undefined when nothing was written. Later writes are not hashed. */
  endHashing(): Promise<string> | undefined;
  read(position: number, length: number): Promise<Buffer>;
  sync(): Promise<void>;
  close(): Promise<void>;
  remove(): Promise<void>;
  /**
   * Keeps a failed write or sync as final. The page cache may have lost data, and a second sync would not report it.
   */
  keepFailure(error: unknown): void;
  throwFailure(): void;
}

export function createStagingFile(path: string, hashThread: HashThread): StagingFile {
  let hashing: FileHashing | undefined;
  let isHashed = false;
  let hasArrived = false;
  let written = 0;
  let synced = 0;
  let fd: number | undefined;
  let writing: Promise<void> | undefined;
  let syncing: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  function keepFailure(error: unknown): void {
    failure ??= { error };
  }

  async function open(): Promise<number> {
    fd ??= await openFile(path, 'wx+', 0o600);
    return fd;
  }

  async function write({ pieces, bytes }: Gathered): Promise<void> {
    const into = await open();
    await writeAll(into, pieces, written);
    releaseBuffers(pieces);
    written += bytes;
    if (isHashed) return;
    hashing ??= hashThread.begin(into);
    hashing.advance(written);
  }

  function syncBehind(): void {
    if (syncing !== undefined || fd === undefined || failure !== undefined || hasArrived) return;
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

  async function close(): Promise<void> {
    if (fd === undefined) return;
    // The thread may still be reading, but its result is no longer needed.
    await hashing?.end().catch(() => undefined);
    hashing = undefined;
    const closing = fd;
    fd = undefined;
    await closeFile(closing);
  }

  return {
    written: () => written,
    isThere: () => fd !== undefined,
    writing: () => writing,
    write,
    writeBehind(gathered) {
      writing = write(gathered)
        .catch(keepFailure)
        .then(() => {
          writing = undefined;
          syncBehind();
        });
    },
    endArrival() {
      hasArrived = true;
    },
    settle,
    endHashing() {
      const ended = hashing;
      hashing = undefined;
      isHashed = true;
      return ended?.end();
    },
    read: async (position, length) => readAt(await open(), position, length),
    sync: async () => syncFile(await open()),
    close,
    async remove() {
      await settle();
      const exists = fd !== undefined;
      await close();
      if (exists) await removeFile(path);
    },
    keepFailure,
    throwFailure() {
      if (failure !== undefined) throw diskFailure(failure.error);
    },
  };
}
