/** One line of a pin for each name that users rely on: the name, and what it promises. */
export type Entries = Record<string, string>;

/**
 * Returns `a=1 b c=x|y` for `{ a: 1, b: true, c: ['x', 'y'], d: undefined }`. Strings stay as they are; objects become
 * JSON.
 */
export function describeFields(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => {
      if (value === true) return name;
      return `${name}=${[value].flat().map(describeValue).join('|')}`;
    })
    .join(' ');
}

function describeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
