import { type Line, textOf } from './lines.ts';
import { keyOf, type Outline } from './outline.ts';

export interface PageLines {
  /** From 1. */
  readonly page: number;
  readonly height: number;
  readonly lines: readonly Line[];
}

/** The maximum distance of a running head from the edge, as a share of the page height. */
const margin = 0.13;
const fewestPages = 3;
/** The number of pages to compare. A running head may change with the chapter. */
const reach = 12;
/** Type that is this much larger than the text is never a running head. */
const largeType = 1.3;
/** The greatest difference between a page number and the number of the page in the file. */
const farthestOffset = 60;

interface Context {
  readonly outline: Outline;
  readonly title: string | undefined;
}

export interface WithoutHeads {
  readonly pages: PageLines[];
  /** The number of removed characters. */
  readonly dropped: number;
}

/**
 * Removes lines at the edge of pages that are proven to be headers, footers or page numbers. The first occurrence of each text stays, and
 * so do large type and the titles of bookmarks on their pages.
 */
export function removeRunningHeads(pages: readonly PageLines[], context: Context): WithoutHeads {
  const edges = pages.map((page) => ({ page: page.page, lines: edgeLines(page) }));
  const usual = usualSize(pages);
  const titles = titleKeys(pages, { usual, ...context });
  const isNumbered = findNumberedLines(edges, titles);
  const isRepeated = findRepeatedLines(edges);
  const seen = new Set<string>();
  const removed = new Set<Line>();
  let dropped = 0;
  for (const { page, lines } of edges) {
    for (const line of lines) {
      const text = textOf(line);
      const numbered = isNumbered(line);
      const key = numbered ?? text.toLowerCase();
      const isFirst = !seen.has(key);
      seen.add(key);
      if (line.size >= usual * largeType || context.outline.isTitleOn(page, text)) continue;
      const isFurniture = numbered === '' || (!isFirst && (numbered !== null || isRepeated(line, page)));
      if (!isFurniture) continue;
      removed.add(line);
      dropped += text.length;
    }
  }
  const remaining = pages.map((page) => ({ ...page, lines: page.lines.filter((line) => !removed.has(line)) }));
  // A document of page numbers alone keeps them, because it has text.
  if (remaining.every(({ lines }) => lines.length === 0)) return { pages: [...pages], dropped: 0 };
  return { pages: remaining, dropped };
}

interface EdgesOfPage {
  readonly page: number;
  readonly lines: readonly Line[];
}

/** Returns the two outermost lines at the top and at the bottom, and the lines at the same height. */
function edgeLines({ lines, height }: PageLines): Line[] {
  const sorted = lines
    .filter((line) => line.y < height * margin || line.y > height * (1 - margin))
    .sort((a, b) => b.y - a.y);
  const top = sorted.filter((line) => line.y > height / 2);
  const bottom = sorted.filter((line) => line.y <= height / 2).reverse();
  return [...outermost(top), ...outermost(bottom)];
}

function outermost(lines: readonly Line[]): readonly Line[] {
  const second = lines.find((line) => Math.abs(line.y - (lines[0]?.y ?? 0)) >= sameHeight);
  return lines.filter((line) => [lines[0], second].some((edge) => Math.abs(line.y - (edge?.y ?? -1)) < sameHeight));
}
const sameHeight = 2;

/** @returns for a line with a page number the words beside the number, in lower case, or '' for none; null for another line */
function findNumberedLines(edges: readonly EdgesOfPage[], titles: ReadonlySet<string>): (line: Line) => string | null {
  const pagesOf = new Map<string, Set<number>>();
  const numbers = new Map<Line, readonly NumberInLine[]>();
  const keyOfNumber = (line: Line, { rest }: NumberInLine, offset: number) => `${heightOf(line)} ${offset} ${rest}`;
  for (const { page, lines } of edges) {
    for (const line of lines) {
      const found = findPageNumbers(textOf(line)).filter(
        ({ value, rest }) => Math.abs(value - page) <= farthestOffset && isPageNumberRest(rest, titles),
      );
      numbers.set(line, found);
      for (const number of found) addTo(pagesOf, keyOfNumber(line, number, number.value - page), page);
    }
  }
  const pageOf = new Map(edges.flatMap(({ page, lines }) => lines.map((line) => [line, page] as const)));
  return (line) => {
    const page = pageOf.get(line) ?? 0;
    const proven = numbers.get(line)?.find((number) => {
      const on = pagesOf.get(keyOfNumber(line, number, number.value - page));
      return (on?.size ?? 0) >= fewestPages;
    });
    return proven === undefined ? null : proven.words;
  };
}

/** Whether the whole line, digits included, stands at the same height on several of the neighbouring pages. */
function findRepeatedLines(edges: readonly EdgesOfPage[]): (line: Line, page: number) => boolean {
  const pagesOf = new Map<string, Set<number>>();
  const keyOfLine = (line: Line) => `${heightOf(line)} ${textOf(line).toLowerCase()}`;
  for (const { page, lines } of edges) for (const line of lines) addTo(pagesOf, keyOfLine(line), page);
  return (line, page) => {
    const on = pagesOf.get(keyOfLine(line));
    let near = 0;
    for (let other = page - reach; other <= page + reach; other += 1) if (on?.has(other) === true) near += 1;
    return near >= fewestPages;
  };
}

function addTo(map: Map<string, Set<number>>, key: string, page: number): void {
  const pages = map.get(key);
  if (pages === undefined) map.set(key, new Set([page]));
  else pages.add(page);
}

/** The keys of bookmarks, of the title and of large lines. A page number beside one of them belongs to a running head. */
function titleKeys(
  pages: readonly PageLines[],
  { usual, outline, title }: Context & { readonly usual: number },
): ReadonlySet<string> {
  const keys = new Set(outline.keys);
  if (title !== undefined) keys.add(keyOf(title));
  for (const { lines } of pages) {
    for (const line of lines) if (line.size >= usual * largeType) keys.add(keyOf(textOf(line)));
  }
  keys.delete('');
  return keys;
}

/** The size of most characters. */
function usualSize(pages: readonly PageLines[]): number {
  const characters = new Map<number, number>();
  for (const { lines } of pages) {
    for (const line of lines) characters.set(line.size, (characters.get(line.size) ?? 0) + textOf(line).length);
  }
  const [size] = [...characters].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  return size;
}

function heightOf(line: Line): number {
  return Math.round(line.y / 4);
}

/** A number in a line, which may be that of the page. */
interface NumberInLine {
  readonly value: number;
  /** The line in lower case with `#` in place of the number. */
  readonly rest: string;
  /** The words of the rest that say more than "page", in lower case; '' when there are none. */
  readonly words: string;
}

/** A line with more numbers is no page number. */
const mostNumbers = 4;

const pageWords = new Set(
  `page pages p pp pg of seite seiten s von página paginas páginas pág pagina pagine de di sur strona z стр страница из
   sivu sida side av af oldal sayfa trang halaman จาก หน้า 第 页 頁 页共 頁共 共 ページ 쪽 페이지 صفحة من עמוד מתוך पृष्ठ`
    .trim()
    .split(/\s+/),
);

function findPageNumbers(line: string): readonly NumberInLine[] {
  const text = line.toLowerCase().trim();
  const found = [...text.matchAll(/\p{Nd}+/gu), ...text.matchAll(/(?<![\p{L}\p{N}])[ivxlcdm]{1,7}(?![\p{L}\p{N}])/gu)];
  if (found.length > mostNumbers) return [];
  return found.flatMap((match) => {
    const value = readNumber(match[0]);
    if (value === undefined) return [];
    const rest = `${text.slice(0, match.index)}#${text.slice(match.index + match[0].length)}`;
    return [{ value, rest, words: wordsBeside(rest) }];
  });
}

/** Whether the rest of a line may be part of a page number: nothing, a word for pages, or a title of the document. */
function isPageNumberRest(rest: string, titles: ReadonlySet<string>): boolean {
  const words = wordsBeside(rest);
  return words === '' || titles.has(keyOf(words)) || titles.has(keyOf(rest.replace('#', '')));
}

function wordsBeside(rest: string): string {
  const words = rest.split(/[^\p{L}\p{M}]+/u).filter((word) => word !== '' && !pageWords.has(word));
  return words.join(' ');
}

function readNumber(digits: string): number | undefined {
  if (!/^\p{Nd}+$/u.test(digits)) return romanValue(digits);
  if (digits.length > 6) return undefined;
  return Number([...digits].map((digit) => zeroDistance(digit)).join(''));
}

/** The value of a digit of any script: digits of a script are ten consecutive characters that begin with zero. */
function zeroDistance(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  if (code < 0x80) return code - 48;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}

const roman: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100, d: 500, m: 1000 };

function romanValue(letters: string): number {
  let value = 0;
  for (const [at, letter] of [...letters].entries()) {
    const own = roman[letter] ?? 0;
    const next = roman[letters[at + 1] ?? ''] ?? 0;
    value += own < next ? -own : own;
  }
  return value;
}
