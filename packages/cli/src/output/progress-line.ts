import { printable } from './print.ts';

/** One line on a terminal that is rewritten, and removed at the end. Elsewhere nothing is printed. */
export interface ProgressLine {
  show(text: string): void;
  clear(): void;
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

/** Milliseconds between two changes of the line. */
const pauseMs = 100;
const clearLine = '\r\u001b[K';

export function createProgressLine(
  terminal: Terminal = process.stderr,
  now: () => number = () => performance.now(),
): ProgressLine {
  let last = -pauseMs;
  let isShown = false;
  return {
    show: (text) => {
      if (terminal.isTTY !== true || now() - last < pauseMs) return;
      last = now();
      isShown = true;
      // A longer line would wrap, and only its last part could be removed.
      terminal.write(`${clearLine}${printable(text).slice(0, Math.max(1, (terminal.columns || 80) - 1))}`);
    },
    clear: () => {
      if (isShown) terminal.write(clearLine);
      isShown = false;
      last = -pauseMs;
    },
  };
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size, such as `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${power === 0 ? bytes : (bytes / 2 ** (10 * power)).toFixed(1)} ${units[power]}`;
}

/** Formats a share, such as `45 % of 1.5 MiB`. */
export function formatShare(done: number, all: number | null): string {
  if (all === null) return formatBytes(done);
  return `${all === 0 ? 100 : Math.floor((done / all) * 100)} % of ${formatBytes(all)}`;
}
