/** Columns as wide as their widest cell, without a frame. Control characters of names are made visible. */
export function printTable(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const lines = [heads, ...rows.map((row) => row.map(printable))];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  for (const line of lines) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** ISO 8601 in UTC; `-` for never. */
export function time(milliseconds: number | null): string {
  return milliseconds === null ? '-' : new Date(milliseconds).toISOString();
}

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
