import { styleText } from 'node:util';
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

/** The maximum number of characters of one value. The JSON form of the log has the full value. */
const maxValue = 200;
const maxStackLines = 20;
const levels: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

interface ReadableOptions {
  readonly colours: boolean;
}

/**
 * Formats one log line for people: time of day, level, event and fields. Lines that are not JSON objects stay unchanged. Control
 * characters are escaped, because fields contain text from requests and terminals interpret them.
 */
export function formatLogLine(line: string, { colours }: ReadableOptions): string {
  const entry = parseEntry(line);
  if (entry === undefined) return `${escapeControls(line.trimEnd())}\n`;
  const { level, time, msg, err, ...fields } = entry;
  const name = String(level ?? '');
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(format, text, { validateStream: false }) : text;
  const head = [
    paint('gray', timeOfDay(time)),
    paint(levels[name] ?? 'white', name.toUpperCase().padEnd(5)),
    escapeControls(String(msg ?? '')),
  ];
  const pairs = Object.entries(fields).map(([key, value]) => `${paint('gray', `${key}=`)}${formatValue(value)}`);
  return `${[...head, ...pairs].join(' ')}\n${describeError(err)}`;
}

/** Writes readable lines to a terminal. They are not batched, so that later output of the process follows them. */
export function createReadableDestination(
  stream: { write(text: string): unknown },
  options: ReadableOptions,
): LogDestination {
  return {
    write: (line) => void stream.write(formatLogLine(line, options)),
    end: async () => {},
    flushSync: () => {},
  };
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : undefined; // an object has string keys
  } catch {
    return undefined;
  }
}

function timeOfDay(time: unknown): string {
  if (typeof time !== 'number') return '--:--:--.---';
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = `${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  return `${two(date.getHours())}:${two(date.getMinutes())}:${seconds}`;
}

function formatValue(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
  const text = isPlain ? value : JSON.stringify(value);
  return escapeControls(text.length > maxValue ? `${text.slice(0, maxValue)}…` : text);
}

function describeError(err: unknown): string {
  if (typeof err !== 'object' || err === null) return '';
  const { stack, message } = err as { stack?: unknown; message?: unknown }; // from pino's serializer, or of any shape
  const lines = String(stack ?? message ?? '')
    .split('\n')
    .slice(0, maxStackLines);
  return lines.map((line) => `    ${escapeControls(line.trim())}\n`).join('');
}

/** Escapes C0 and C1 controls and characters that reorder text. */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
