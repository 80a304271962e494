import type { Codes } from './ascii-pieces.ts';

/*
 * What the segmenter of `words.ts` finds in text of ASCII alone (UAX #29), without a string for each word.
 */

const kinds = { other: 0, letter: 1, digit: 2, line: 3, between: 4, betweenLetters: 5, betweenDigits: 6 } as const;
const kindOf = new Uint8Array(128);
for (let code = 0; code < kindOf.length; code += 1) kindOf[code] = kindOfCharacter(String.fromCharCode(code));

function kindOfCharacter(character: string): number {
  if (/[a-z]/i.test(character)) return kinds.letter;
  if (/[0-9]/.test(character)) return kinds.digit;
  if (character === '_') return kinds.line;
  if (/[.']/.test(character)) return kinds.between;
  if (character === ':') return kinds.betweenLetters;
  return /[,;]/.test(character) ? kinds.betweenDigits : kinds.other;
}

/** Calls `onWord` with the place of each word, in order. */
export function findAsciiWords(text: Codes, onWord: (start: number, end: number) => void): void {
  for (let at = 0; at < text.length; at += 1) {
    if (!isPart(text, at)) continue;
    const end = endOfWord(text, at);
    if (!isLine(text, at, end)) onWord(at, end);
    at = end;
  }
}

function kindAt(text: Codes, at: number): number {
  return at < text.length ? (kindOf[text.codes[at] ?? 0] ?? kinds.other) : kinds.other;
}

function isPart(text: Codes, at: number): boolean {
  const kind = kindAt(text, at);
  return kind === kinds.letter || kind === kinds.digit || kind === kinds.line;
}

function endOfWord(text: Codes, start: number): number {
  let at = start + 1;
  while (isPart(text, at) || joins(text, at)) at += 1;
  return at;
}

/** Whether a mark stands between two letters or two digits that it does not part. */
function joins(text: Codes, at: number): boolean {
  const kind = kindAt(text, at);
  if (kind < kinds.between) return false;
  const before = kindAt(text, at - 1);
  if (before !== kindAt(text, at + 1)) return false;
  return before === kinds.letter
    ? kind !== kinds.betweenDigits
    : before === kinds.digit && kind !== kinds.betweenLetters;
}

/** A line to write on is no word. */
function isLine(text: Codes, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (kindAt(text, at) !== kinds.line) return false;
  return true;
}
