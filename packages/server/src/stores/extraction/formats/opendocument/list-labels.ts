import { childrenOf, findAll, type XmlElement } from '../docx/xml-tree.ts';
import { toLetters, toRoman } from '../numerals.ts';

interface Level {
  readonly start: number;
  /** `1`, `a`, `A`, `i` or `I`; empty for bullets. */
  readonly format: string;
  readonly before: string;
  readonly after: string;
  /** How many levels the label shows, this one included. */
  readonly shown: number;
}

/** Labels the items of lists and the headings as the document shows them. */
export interface ListLabels {
  /** Returns the label of the next item: `-` for bullets and unknown styles. */
  next(list: OpenList, level: number, start: number | undefined): string;
  /** Returns the number of the next heading; empty when headings have none. */
  heading(level: number): string;
}

/** A list with the counts of its items by level. */
export interface OpenList {
  readonly style: string;
  readonly counts: number[];
}

/** @param styles the elements that hold the styles of lists */
export function createListLabels(styles: readonly XmlElement[]): ListLabels {
  const lists = new Map<string, ReadonlyMap<number, Level>>();
  for (const each of styles)
    for (const list of findAll(each, 'text:list-style'))
      lists.set(list.attributes['style:name'] ?? '', readLevels(list));
  const outlines = styles.flatMap((each) => [...findAll(each, 'text:outline-style')]);
  const outline = outlines[0] === undefined ? new Map<number, Level>() : readLevels(outlines[0]);
  const headings: number[] = [];
  return {
    next({ style, counts }, level, start) {
      const levels = lists.get(style);
      const own = levels?.get(level);
      if (levels === undefined || own === undefined || own.format === '') return '-';
      count(counts, { level, first: start ?? own.start, isSet: start !== undefined });
      return labelOf(levels, counts, { own, level });
    },
    heading(level) {
      const own = outline.get(level);
      if (own === undefined) return '';
      count(headings, { level, first: own.start, isSet: false });
      return own.format === '' ? '' : labelOf(outline, headings, { own, level });
    },
  };
}

function readLevels(list: XmlElement): Map<number, Level> {
  return new Map(
    childrenOf(list).map(({ attributes }) => [
      Number(attributes['text:level']),
      {
        start: wholeNumber(attributes['text:start-value']) ?? 1,
        format: attributes['style:num-format'] ?? '',
        before: attributes['style:num-prefix'] ?? '',
        after: attributes['style:num-suffix'] ?? '',
        shown: wholeNumber(attributes['text:display-levels']) ?? 1,
      },
    ]),
  );
}

/** Returns a number of at most seven digits. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,7}$/.test(text) ? Number(text) : undefined;
}

function count(counts: number[], { level, first, isSet }: { level: number; first: number; isSet: boolean }): void {
  const known = counts[level];
  counts[level] = known === undefined || isSet ? first : known + 1;
  counts.length = level + 1;
}

function labelOf(
  levels: ReadonlyMap<number, Level>,
  counts: readonly (number | undefined)[],
  { own, level }: { own: Level; level: number },
): string {
  const numbers: string[] = [];
  for (let at = Math.max(1, level - own.shown + 1); at <= level; at += 1) {
    const format = levels.get(at)?.format ?? '';
    if (format !== '') numbers.push(numeral(counts[at] ?? levels.get(at)?.start ?? 1, format));
  }
  return `${own.before}${numbers.join('.')}${own.after}`.trim();
}

function numeral(value: number, format: string): string {
  const isLetter = /^a$/i.test(format);
  if (!isLetter && !/^i$/i.test(format)) return String(value);
  const text = isLetter ? toLetters(value) : toRoman(value);
  return format === format.toUpperCase() ? text.toUpperCase() : text;
}
