/** Bounds of the texts that are copied into the locator of every chunk of a part of a document. */
export const placeLimits = {
  /** Characters of a heading or of the name of a sheet or attachment. */
  name: 500,
  /** Headings above a chunk. */
  headings: 10,
  /** Characters of all headings above a chunk together. */
  headingPath: 1_000,
  /** Characters of the name of a cell. */
  cell: 32,
} as const;

/** Cuts a heading or name to the length that a locator holds. The last character of a cut name is an ellipsis. */
export function cutName(name: string, longest: number = placeLimits.name): string {
  return name.length <= longest ? name : `${cut(name, longest - 1)}…`;
}

/** Cuts the headings above a chunk to equal shares when together they are longer than a locator holds. */
export function cutPath(headings: readonly string[]): readonly string[] {
  const length = headings.reduce((sum, { length }) => sum + length, 0);
  if (length <= placeLimits.headingPath) return headings;
  const share = Math.floor(placeLimits.headingPath / headings.length);
  return headings.map((heading) => cutName(heading, share));
}

/** Returns the warning about cut names, if there are any. `what` is a plural. */
export function warnOfCutNames(count: number, what: string): string[] {
  if (count === 0) return [];
  return [
    `names_cut: ${count} ${what} are longer than a locator holds (${placeLimits.name} characters, all headings of a path ${placeLimits.headingPath}); locators hold their beginning.`,
  ];
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** The characters before the end that decide where the last grapheme begins. */
const window = 64;

/** Truncates a text at the border of a grapheme, such as an emoji of several parts. Never cuts within a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const [last, next] = [text.charCodeAt(length - 1), text.charCodeAt(length)];
  if (last < 0x80 && next < 0x80) return text.slice(0, length);
  const from = Math.max(0, length - window);
  const { index = 0 } = graphemes.segment(text.slice(from, length + 2)).containing(length - from) ?? {};
  if (index > 0) return text.slice(0, from + index);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
