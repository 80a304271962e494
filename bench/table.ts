export interface Row {
  readonly bench: string;
  readonly ours: string;
  readonly floor: string;
  /** The required value, and whether the figure meets it. */
  readonly bar: string;
  readonly met: boolean;
  /** Event-loop delay p99 of the service during the bench, in milliseconds; undefined when no service runs. */
  readonly loopP99?: number;
  /** Peak of resident memory during the bench, in MiB. */
  readonly peakMb?: number;
}

export function printRows(rows: readonly Row[]): void {
  const heads = ['bench', 'ours', 'floor', 'bar', 'met', 'loop p99 ms', 'peak MiB'];
  printTable([
    heads,
    ...rows.map((row) => [
      row.bench,
      row.ours,
      row.floor,
      row.bar,
      row.met ? 'yes' : 'NO',
      row.loopP99?.toFixed(1) ?? '',
      row.peakMb?.toFixed(0) ?? '',
    ]),
  ]);
}

/** Prints columns as wide as their longest cell. */
export function printTable(lines: ReadonlyArray<readonly string[]>): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  for (const line of lines) console.log(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}
