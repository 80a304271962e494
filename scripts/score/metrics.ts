// The metrics of `score.py` in the corpus, in TypeScript: words and their order, headings, cells.

export interface TextScore {
  readonly units: number;
  readonly recall: number;
  readonly precision: number;
  /** Share of the sequences of five units in the ground truth that the text also contains. */
  readonly order5: number;
}

export interface HeadingScore {
  readonly f1: number;
  /** Share of the found headings that have the right level. */
  readonly level: number;
}

const cjk = '\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f';
const invisible = /\u200d|[\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u0640\u064b-\u0652\u0670]/g;
const letters = `[[\\p{L}\\p{N}]--[${cjk}]]`;
const marks = '[\u0300-\u036f\u0900-\u097f]';
const unit = new RegExp(`[${cjk}]|${letters}+(?:${marks}+${letters}*)*`, 'gv');

/** Returns the words, or the characters of languages without blanks. */
export function units(text: string): string[] {
  const plain = text
    .normalize('NFKC')
    .replace(invisible, '')
    .replace(/([\p{L}\p{N}_])[-\u2010]\n\s*([\p{L}\p{N}_])/gu, '$1$2');
  return plain.toLowerCase().match(unit) ?? [];
}

export function scoreText(truth: string, text: string): TextScore {
  const expected = units(truth);
  const found = units(text);
  const common = overlap(count(expected), count(found));
  const runs = count(fives(expected));
  return {
    units: expected.length,
    recall: share(common, expected.length),
    precision: share(common, found.length),
    order5: share(overlap(runs, count(fives(found))), sum(runs)),
  };
}

export function scoreHeadings(truth: string, markdown: string): HeadingScore | null {
  const expected = headings(truth);
  if (expected.length === 0) return null;
  const found = headings(markdown);
  const text = (list: readonly Heading[]) => count(list.map((heading) => heading.text));
  const whole = (list: readonly Heading[]) => count(list.map((heading) => `${heading.level} ${heading.text}`));
  const common = overlap(text(expected), text(found));
  return {
    f1: f1(common, expected.length, found.length),
    level: share(overlap(whole(expected), whole(found)), common),
  };
}

/** Returns F1 over the text of the cells of all tables; null when the ground truth has no table. */
export function scoreCells(truth: string, markdown: string): number | null {
  const expected = count(cells(truth));
  const found = count(cells(markdown));
  return sum(expected) === 0 ? null : f1(overlap(expected, found), sum(expected), sum(found));
}

interface Heading {
  readonly level: number;
  readonly text: string;
}

function headings(markdown: string): Heading[] {
  const found: Heading[] = [];
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    const match = fenced ? null : /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (match === null) continue;
    const [, marks = '', text = ''] = match;
    const plain = text.replace(/\{#[^}]*\}|<[^>]+>|[*_`]/g, '');
    found.push({ level: marks.length, text: units(plain).join(' ') });
  }
  return found;
}

function cells(markdown: string): string[] {
  const rows = markdown.split('\n').filter((line) => line.trim().startsWith('|') && !/^[\s|:+-]+$/.test(line));
  const texts = rows.flatMap((row) =>
    row
      .trim()
      .replace(/^\|+|\|+$/g, '')
      .split('|'),
  );
  return texts.map((cell) => units(cell).join(' ')).filter((cell) => cell !== '');
}

function fives(list: readonly string[]): string[] {
  return Array.from({ length: Math.max(0, list.length - 4) }, (_, at) => list.slice(at, at + 5).join('\0'));
}

type Counts = ReadonlyMap<string, number>;

function count(list: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const item of list) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function overlap(a: Counts, b: Counts): number {
  let common = 0;
  for (const [item, times] of a) common += Math.min(times, b.get(item) ?? 0);
  return common;
}

function sum(counts: Counts): number {
  return counts.values().reduce((total, times) => total + times, 0);
}

function share(part: number, whole: number): number {
  return part / Math.max(1, whole);
}

function f1(common: number, expected: number, found: number): number {
  return (2 * common) / Math.max(1, expected + found);
}
