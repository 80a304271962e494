import { styleText } from 'node:util';
import type { LogDestination } from './log/log-destination.ts';

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

export interface ReadableOptions {
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
