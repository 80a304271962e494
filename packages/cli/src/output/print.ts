/** Prints columns that are as wide as their widest cell. Control characters are escaped. */
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

/** Formats a time as ISO 8601 in UTC; `-` for null. */
export function time(milliseconds: number | null): string {
  return milliseconds === null ? '-' : new Date(milliseconds).toISOString();
}

/** Prints a line on standard output. Control characters are escaped, because the text may be untrusted. */
export function say(text: string): void {
  console.log(printable(text));
}

/** Prints lines on standard error, escaped like {@link say}. */
export function printError(text: string): void {
  console.error(text.split('\n').map(printable).join('\n'));
}

/** Prints JSON and escapes the control characters that JSON itself does not escape. */
export function printJson(value: unknown, indent?: number): void {
  console.log(toPrintableJson(value, indent));
}

/** The option of every command that prints a result. */
export interface JsonOption {
  readonly json?: true;
}

export const jsonOption = ['--json', 'print JSON, one object per line'] as const;

/** Prints a result: with `--json` as one line of JSON, otherwise as text. */
export function printResult({ json }: JsonOption, value: object, printText: () => void): void {
  if (json === true) printJson(value);
  else printText();
}

/** Prints JSON on standard error, escaped like {@link printJson}. */
export function printErrorJson(value: unknown): void {
  console.error(toPrintableJson(value));
}

function toPrintableJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').split('\n').map(printable).join('\n');
}

/** Prints the members of an object as lines of names and values. Times of the API are printed as ISO 8601. */
export function printFields(fields: object): void {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) say(`${name.padEnd(width)}  ${toCell(name, value)}`);
}

function toCell(name: string, value: unknown): string {
  if (value === null) return '-';
  if (typeof value === 'number' && name.endsWith('_timestamp')) return time(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Escapes characters that control a terminal or change the text direction. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
