import { toRoman } from '../numerals.ts';

type Attributes = Readonly<Record<string, string>>;

/** Numbers the items of the open lists as a browser shows them. */
export interface ListNumbers {
  /** @param count the number of items of the list, for one that counts down */
  open(name: string, attributes: Attributes, count: () => number): void;
  /** Returns the label of the next item with a blank behind it. */
  item(attributes: Attributes): string;
  close(): void;
}

interface OpenList {
  next: number;
  readonly step: 1 | -1;
  readonly format: string;
}

export function createListNumbers(): ListNumbers {
  const lists: OpenList[] = [];
  return {
    open: (name, attributes, count) => {
      const isReversed = name === 'ol' && attributes.reversed !== undefined;
      const next = wholeNumber(attributes.start) ?? (isReversed ? count() : 1);
      lists.push({ next, step: isReversed ? -1 : 1, format: name === 'ol' ? formatOf(attributes, 'decimal') : '' });
    },
    item: (attributes) => {
      const list = lists.at(-1);
      if (list === undefined || list.format === '') return '- ';
      const number = wholeNumber(attributes.value) ?? list.next;
      list.next = number + list.step;
      const write = numerals[formatOf(attributes, list.format)];
      return write === undefined ? '- ' : `${write(number)}. `;
    },
    close: () => void lists.pop(),
  };
}

function wholeNumber(text = ''): number | undefined {
  return /^\s*-?\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
}

const types: Readonly<Record<string, string>> = {
  '1': 'decimal',
  a: 'lower-alpha',
  A: 'upper-alpha',
  i: 'lower-roman',
  I: 'upper-roman',
};

/** The style precedes the attribute. Counters of other languages are decimal. */
function formatOf({ type = '', style = '' }: Attributes, usual: string): string {
  const styled = /list-style(?:-type)?\s*:\s*([a-z-]+)/i.exec(style)?.[1]?.toLowerCase();
  return styled ?? types[type] ?? usual;
}

const upper = (write: (value: number) => string) => (value: number) => write(value).toUpperCase();

/** Formats that are not here, such as `none` and `disc`, show no number. */
const numerals: Readonly<Record<string, (value: number) => string>> = {
  decimal: String,
  'decimal-leading-zero': (value) => String(value).padStart(2, '0'),
  'lower-alpha': (value) => toAlphabet(value, latin),
  'lower-latin': (value) => toAlphabet(value, latin),
  'upper-alpha': upper((value) => toAlphabet(value, latin)),
  'upper-latin': upper((value) => toAlphabet(value, latin)),
  'lower-greek': (value) => toAlphabet(value, 'αβγδεζηθικλμνξοπρστυφχψω'),
  'lower-roman': toRoman,
  'upper-roman': upper(toRoman),
};
const latin = 'abcdefghijklmnopqrstuvwxyz';

/** After z comes aa, then ab. */
function toAlphabet(value: number, letters: string): string {
  if (value < 1) return String(value);
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor((rest - 1) / letters.length))
    text = letters.charAt((rest - 1) % letters.length) + text;
  return text;
}

const longestList = 100_000;

/** Counts the items of the list whose content begins at the offset. */
export function countItems(html: string, from: number): number {
  let [depth, count] = [0, 0];
  for (const [, slash, name] of html.slice(from, from + longestList).matchAll(/<(\/?)(ol|ul|menu|li)(?=[\s>])/gi)) {
    const isItem = name?.toLowerCase() === 'li';
    if (isItem && slash === '' && depth === 0) count += 1;
    if (isItem) continue;
    depth += slash === '' ? 1 : -1;
    if (depth < 0) break;
  }
  return count;
}
