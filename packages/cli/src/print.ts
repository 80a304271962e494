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

/** A line that may hold text of others. */
export function say(text: string): void {
  console.log(printable(text));
}

/** Lines that may, on standard error. */
export function complain(text: string): void {
  console.error(text.split('\n').map(printable).join('\n'));
}

/** JSON, without characters that a terminal would act on: JSON itself escapes some of them only. */
export function printJson(value: unknown, indent?: number): void {
  console.log(JSON.stringify(value, null, indent).split('\n').map(printable).join('\n'));
}

/** Text of others must not steer the terminal, nor turn around the order of what it shows. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
