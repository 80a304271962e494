import { write, writeSync } from 'node:fs';

/** Where log lines go: gathered, written together, never waited for. */
export interface LogDestination {
  write(line: string): void;
  /** Resolves when every line is written, or after `patience` ms if nobody takes them; for an orderly end. */
  end(): Promise<void>;
  /**
   * Writes what is gathered before it returns; for an end that cannot wait. What the system has in hand at that moment
   * may come after it, or be lost: {@link LogDestination.end} loses nothing.
   */
  flushSync(): void;
}

export interface LogDestinationOptions {
  /** Characters gathered before they are written; less is written after a second. */
  readonly gather?: number;
  /** Characters kept when the reader of the log is slow; lines beyond are dropped, and their number is logged. */
  readonly most?: number;
  /** Milliseconds that the end waits for a reader who takes nothing. */
  readonly patience?: number;
}

const retryMs = 50;

/**
 * Lines to a file descriptor without holding up the event loop. Ours because the usual stream costs 4.5 µs a line and
 * this 0.4, of the 25 that a small answer takes in all; `npm run bench` has the figures that depend on it.
 */
export function createLogDestination(fd: number, options: LogDestinationOptions = {}): LogDestination {
  const { gather = 64 * 1024, most = 16 * 1024 * 1024, patience = 2000 } = options;
  let lines: string[] = [];
  let gathered = 0;
  let dropped = 0;
  /** What is being written; what the system has not taken of it stays here. */
  let writing: Buffer | undefined;
  /** Called when nothing is being written; set by `end`. */
  let onWritten: (() => void) | undefined;
  const timer = setInterval(flush, 1000);
  timer.unref();

  function take(): Buffer {
    if (dropped > 0)
      lines.push(`{"level":"warn","time":${Date.now()},"dropped":${dropped},"msg":"log lines dropped"}\n`);
    const bytes = Buffer.from(lines.join(''));
    lines = [];
    gathered = 0;
    dropped = 0;
    return bytes;
  }
  function flush(): void {
    if (writing !== undefined || lines.length === 0) return;
    writing = take();
    continueWriting();
  }
  function continueWriting(): void {
    if (writing === undefined) return;
    write(fd, writing, 0, writing.length, null, (error, count) => {
      if (writing === undefined) return;
      if (error?.code === 'EAGAIN') setTimeout(continueWriting, retryMs).unref();
      // Nobody reads the log any more: there is nobody to tell.
      else if (error !== null) written();
      else if (count < writing.length) {
        writing = writing.subarray(count);
        continueWriting();
      } else written();
    });
  }
  function written(): void {
    writing = undefined;
    if (onWritten !== undefined) onWritten();
    else if (gathered >= gather) flush();
  }

  return {
    write(line) {
      if (gathered > most) {
        dropped++;
        return;
      }
      lines.push(line);
      gathered += line.length;
      if (gathered >= gather) flush();
    },
    end() {
      clearInterval(timer);
      const { promise, resolve } = Promise.withResolvers<void>();
      const givingUp = setTimeout(resolve, patience);
      onWritten = () => {
        flush();
        if (writing !== undefined) return;
        clearTimeout(givingUp);
        resolve();
      };
      if (writing === undefined) onWritten();
      return promise;
    },
    flushSync() {
      clearInterval(timer);
      let rest = take();
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
      } catch {
        // The end of the process is no place to wait for a reader.
      }
    },
  };
}
