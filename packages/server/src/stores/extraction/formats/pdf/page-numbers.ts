import { keyOf } from './outline.ts';

/** A number in a line, which may be that of the page. */
export interface NumberInLine {
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

export function findPageNumbers(line: string): readonly NumberInLine[] {
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
export function isPageNumberRest(rest: string, titles: ReadonlySet<string>): boolean {
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
