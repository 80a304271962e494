import { closeFile, openFile, readAt, removeFile, syncFile, writeAll } from './file-system.ts';
import { diskFailure } from './problems.ts';
import { releaseBuffers } from './release-buffers.ts';

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
  /** Writes in the background while more bytes are gathered. A failure is kept for `throwFailure`. */
  writeBehind(gathered: Gathered): void;
  /** Resolves when no background write is running. */
  settle(): Promise<void>;
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

export function createStagingFile(path: string): StagingFile {
  let written = 0;
  let fd: number | undefined;
  let writing: Promise<void> | undefined;
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
  }

  async function settle(): Promise<void> {
    while (writing !== undefined) await writing;
  }

  async function close(): Promise<void> {
    if (fd === undefined) return;
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
        });
    },
    settle,
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
