import { createHash, type Hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/**
 * A message to the thread. The thread continues a file where it stopped. `to` never exceeds the bytes that have been
 * written.
 */
export type HashRequest =
  | { readonly kind: 'advance'; readonly file: number; readonly fd: number; readonly to: number }
  /** Answered with the digest when the thread no longer reads the file. Its descriptor may be closed then. */
  | { readonly kind: 'end'; readonly file: number };

export interface HashAnswer {
  readonly file: number;
  readonly digest: string | null;
  readonly error: unknown;
}

interface Progress {
  readonly hash: Hash;
  position: number;
  error: unknown;
}

const piece = Buffer.allocUnsafe(256 * 1024);
const files = new Map<number, Progress>();

function progressOf(file: number): Progress {
  let progress = files.get(file);
  if (progress === undefined) {
    progress = { hash: createHash('sha256'), position: 0, error: null };
    files.set(file, progress);
  }
  return progress;
}

function advance(progress: Progress, fd: number, to: number): void {
  while (progress.position < to && progress.error === null) {
    const wanted = Math.min(piece.length, to - progress.position);
    const count = readSync(fd, piece, 0, wanted, progress.position);
    if (count === 0) throw new Error('the file is shorter than what was written to it');
    progress.hash.update(piece.subarray(0, count));
    progress.position += count;
  }
}

parentPort?.on('message', (request: HashRequest) => {
  const progress = progressOf(request.file);
  if (request.kind === 'advance') {
    try {
      advance(progress, request.fd, request.to);
    } catch (error) {
      progress.error = error;
    }
    return;
  }
  files.delete(request.file);
  const digest = progress.error === null ? progress.hash.digest('hex') : null;
  parentPort?.postMessage({ file: request.file, digest, error: progress.error } satisfies HashAnswer);
});
