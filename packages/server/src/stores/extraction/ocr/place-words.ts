import type { Box, ScanBox } from '../page-protocol.ts';

/** A word that OCR has read on a page. */
export interface ScannedWord {
  readonly text: string;
  /** Words with the same number stand on the same line. */
  readonly line: number;
  readonly box: Box;
}

/** A word with its character range in a text. */
export interface PlacedWord {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly box: Box;
}

/** Boxes are rounded to tenths of a point. At 300 pixels per inch, a pixel is 0.24 points wide. */
const precision = 10;

/**
 * Finds the words in a text that was joined from them, in order. Joining adds blanks, and removes the hyphen of a word that
 * continues on the next line.
 */
export function placeWords(text: string, words: readonly ScannedWord[]): PlacedWord[] {
  const placed: PlacedWord[] = [];
  let at = 0;
  for (const { text: word, line, box } of words) {
    let start: number | undefined;
    for (let unit = 0; unit < word.length; unit += 1) {
      while (isBlank(text[at]) && !isBlank(word[unit])) at += 1;
      if (text[at] !== word[unit]) continue;
      start ??= at;
      at += 1;
    }
    if (start !== undefined) placed.push({ start, end: at, line, box });
  }
  return placed;
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && character.trim() === '';
}

/** Returns one box for each line of the words from `start` to before `end`. `offset` is where the text of the words begins. */
export function boxesBetween(
  words: readonly PlacedWord[],
  { start, end, offset }: { readonly start: number; readonly end: number; readonly offset: number },
): Box[] {
  const boxes: Array<{ readonly line: number; box: Box }> = [];
  for (let at = firstEndingAfter(words, start - offset); at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined || word.start + offset >= end) break;
    const last = boxes.at(-1);
    if (last?.line === word.line) last.box = around(last.box, word.box);
    else boxes.push({ line: word.line, box: word.box });
  }
  return boxes.map(({ box }) => box);
}

function firstEndingAfter(words: readonly PlacedWord[], offset: number): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle]?.end ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

function around(a: Box, b: Box): Box {
  const [left, top] = [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
  return [left, top, Math.max(a[0] + a[2], b[0] + b[2]) - left, Math.max(a[1] + a[3], b[1] + b[3]) - top];
}

export function toScanBox(page: number, [left, top, width, height]: Box): ScanBox {
  const round = (value: number) => Math.round(value * precision) / precision;
  return [page, round(left), round(top), round(width), round(height)];
}
