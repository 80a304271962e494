import { pino } from 'pino';
import { createLogger } from './logger.ts';

/** Where log lines go: batched, written in the background, never waited for. */
export interface LogDestination {
  write(line: string): void;
  /**
   * Resolves when every line is written, or after `endTimeoutMs` if the reader takes nothing; for an orderly end. Later
   * lines are not written.
   */
  end(): Promise<void>;
  /**
   * Writes the batched lines before it returns; for an end that cannot wait. A batch that is being written at that moment
   * may come after them, or be lost: {@link LogDestination.end} loses nothing.
   */
  flushSync(): void;
}

export interface LogDestinationOptions {
  /** Bytes that are kept for a slow reader; lines beyond are dropped, and their number is logged. */
  readonly maxBytes?: number;
  /** Milliseconds that the end waits for a reader that takes nothing. */
  readonly endTimeoutMs?: number;
}

/** Bytes that are written together; fewer are written after {@link flushMs}. */
const batchBytes = 32 * 1024;
const flushMs = 1000;

/** The destination of pino, which here never waits for a reader that takes nothing and logs how many lines it dropped. */
export function createLogDestination(fd: number, options: LogDestinationOptions = {}): LogDestination {
  const { maxBytes = 16 * 1024 * 1024, endTimeoutMs = 2000 } = options;
  let dropped = 0;
  let isEnded = false;
  let hasReader = true;
  /** Whether a write for which a pipe has no room is tried again. */
  let isRetrying = true;
  const closed = Promise.withResolvers<void>();
  const stream = pino.destination({
    dest: fd,
    sync: false,
    // Buffers are put together once for each batch; texts would be copied again with each line.
    contentMode: 'buffer',
    minLength: batchBytes,
    maxWrite: 2 * batchBytes,
    maxLength: maxBytes,
    periodicFlush: flushMs,
    retryEAGAIN: () => isRetrying,
  });
  const write = (line: string) => stream.write(Buffer.from(line) as unknown as string); // its types know texts only
  const ownLogger = createLogger('warn', { write });
  stream.on('drop', () => {
    dropped += 1;
  });
  stream.on('drain', reportDropped);
  stream.on('close', closed.resolve);
  // An error of the log cannot be logged. Other lines try again.
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') return;
    hasReader = false;
    closed.resolve();
  });

  function reportDropped(): void {
    if (dropped === 0) return;
    const fields = { dropped };
    dropped = 0;
    ownLogger.warn(fields, 'log lines dropped');
  }

  const flush = stream.flushSync.bind(stream);
  function flushSync(): void {
    isRetrying = false;
    try {
      flush();
      reportDropped();
      flush();
    } catch {
      // A process that ends does not wait for the reader.
    } finally {
      isRetrying = !isEnded;
    }
  }
  // pino calls it at the exit of the process.
  stream.flushSync = flushSync;

  return {
    write(line) {
      if (!isEnded) write(line);
    },
    async end() {
      if (isEnded) return;
      isEnded = true;
      const timer = setTimeout(closed.resolve, endTimeoutMs);
      if (!hasReader) closed.resolve();
      else if (dropped === 0) stream.end();
      else stream.once('drain', () => stream.end()).flush();
      await closed.promise;
      clearTimeout(timer);
      isRetrying = false;
      stream.destroy();
    },
    flushSync,
  };
}
