/** The progress of a copy. */
export interface Progress {
  readonly blobs: number;
  readonly bytes: number;
  readonly blobsDone: number;
  readonly bytesDone: number;
}

/** Milliseconds between two lines. */
const pauses = { terminal: 200, file: 10_000 };
const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/**
 * Prints the progress of a copy on standard error. On a terminal it rewrites one line; elsewhere it prints lines at intervals. The
 * final state is always printed.
 */
export function createProgressPrinter(now: () => number = () => performance.now()): (progress: Progress) => void {
  const { isTTY } = process.stderr;
  const pause = isTTY ? pauses.terminal : pauses.file;
  let last = now();
  return (progress) => {
    const isDone = progress.blobsDone === progress.blobs;
    if (!isDone && now() - last < pause) return;
    last = now();
    const line = describeProgress(progress);
    process.stderr.write(isTTY ? `\r${line}${isDone ? '\n' : ''}` : `${line}\n`);
  };
}

/** Prints the rows that were copied of a table, as the progress of a copy. */
export function createTablePrinter(now: () => number = () => performance.now()): (table: string, rows: number) => void {
  const { isTTY } = process.stderr;
  let last = now();
  return (table, rows) => {
    if (now() - last < (isTTY ? pauses.terminal : pauses.file)) return;
    last = now();
    process.stderr.write(
      `${isTTY ? '\r\u001b[K' : ''}${rows.toLocaleString('en-US')} rows of the table ${table}${isTTY ? '' : '\n'}`,
    );
  };
}

function describeProgress({ blobs, bytes, blobsDone, bytesDone }: Progress): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = (count: number) => (power === 0 ? String(count) : (count / 2 ** (10 * power)).toFixed(1));
  const whole = (count: number) => count.toLocaleString('en-US');
  return `${whole(blobsDone)} of ${whole(blobs)} files, ${size(bytesDone)} of ${size(bytes)} ${units[power]}`;
}
