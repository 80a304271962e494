import sonicBoom from 'sonic-boom';
import { createLogger } from './logger.ts';

/** Writes log lines in batches in the background. Callers never wait. */
export interface LogDestination {
  write(line: string): void;
  /**
   * Ends the log of an orderly stop. Resolves when every line is written, or after `endTimeoutMs` when the reader does not read.
   * Later lines are dropped.
   */
  end(): Promise<void>;
  /**
   * Writes the batched lines synchronously, for a stop that cannot wait. A batch that is being written at that moment may appear
   * later or be lost; {@link LogDestination.end} loses nothing.
   */
  flushSync(): void;
}

export interface LogDestinationOptions {
  /**
   * The maximum number of bytes that are buffered for a slow reader. Further lines are dropped and counted in the log.
   */
  readonly maxBytes?: number;
  /** Milliseconds that `end` waits for a reader that does not read. */
  readonly endTimeoutMs?: number;
}

/** The number of bytes of a batch. Smaller batches are written after {@link flushMs}. */
const batchBytes = 32 * 1024;
const flushMs = 1000;

/** Configures the stream of pino's destinations: it never blocks on a slow reader and logs the number of dropped lines. */
export function createLogDestination(fd: number, options: LogDestinationOptions = {}): LogDestination {
  const { maxBytes = 16 * 1024 * 1024, endTimeoutMs = 2000 } = options;
  let dropped = 0;
  let isEnded = false;
  let hasReader = true;
  /** Whether a write is retried when the pipe is full. */
  let isRetrying = true;
  const closed = Promise.withResolvers<void>();
  const stream = new sonicBoom.SonicBoom({
    dest: fd,
    sync: false,
    // Buffers are joined once for each batch; strings would be copied again with each line.
    contentMode: 'buffer',
    minLength: batchBytes,
    maxWrite: 2 * batchBytes,
    maxLength: maxBytes,
    periodicFlush: flushMs,
    retryEAGAIN: () => isRetrying,
  });
  const write = (line: string) => stream.write(Buffer.from(line) as unknown as string); // its types know texts only
  const log = createLogger('warn', { write });
  stream.on('drop', () => {
    dropped += 1;
  });
  stream.on('drain', reportDropped);
  stream.on('close', closed.resolve);
  // An error of the log cannot be logged. Later lines are tried again.
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') return;
    hasReader = false;
    closed.resolve();
  });

  function reportDropped(): void {
    if (dropped === 0) return;
    const fields = { dropped };
    dropped = 0;
    log.warn(fields, 'log lines dropped');
  }

  const flush = stream.flushSync.bind(stream);
  function flushSync(): void {
    isRetrying = false;
    try {
      flush();
      reportDropped();
      flush();
    } catch {
      // A stopping process does not wait for the reader.
    } finally {
      isRetrying = !isEnded;
    }
  }
  // pino calls it when the process exits.
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
