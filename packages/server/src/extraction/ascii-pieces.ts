/*
 * What the pattern of `tokens.ts` finds in text of ASCII alone, ten times as fast: most text is ASCII. The comments name
 * its alternatives.
 */

const kinds = { mark: 0, letter: 1, digit: 2, blank: 3, lineEnd: 4, none: 5 } as const;
const kindOf = new Uint8Array(128);
for (let code = 0; code < kindOf.length; code += 1) {
  const character = String.fromCharCode(code);
  if (/[a-z]/i.test(character)) kindOf[code] = kinds.letter;
  else if (/[0-9]/.test(character)) kindOf[code] = kinds.digit;
  else if (/[\r\n]/.test(character)) kindOf[code] = kinds.lineEnd;
  else if (/\s/.test(character)) kindOf[code] = kinds.blank;
}
const apostrophe = 0x27;
const space = 0x20;
/** The bit that makes a letter a small one. */
const lowerCase = 0x20;

/** Bounds of the repetitions of the pattern. */
export const longestRun = 128;
const longestNumber = 3;

/** Characters of a text, and how many of them. */
export interface Codes {
  readonly codes: Uint16Array;
  readonly length: number;
}

/** Where the piece ends that begins at `start`, which is before the end of the text. */
export function endOfPiece(text: Codes, start: number): number {
  const code = text.codes[start];
  const kind = kindAt(text, start);
  if (kind === kinds.letter) return endOfRun(text, start, kind);
  if (kind === kinds.digit) return Math.min(endOfRun(text, start, kind), start + longestNumber);
  // '(?:[sS]|[dD]|…)
  const contraction = code === apostrophe ? endOfContraction(text, start + 1) : -1;
  if (contraction !== -1) return contraction;
  const next = kindAt(text, start + 1);
  // [^\r\n\p{L}\p{N}]?\p{L}+
  if (next === kinds.letter && kind !== kinds.lineEnd) return endOfRun(text, start + 1, kinds.letter);
  // ` ?[^\s\p{L}\p{N}]+[\r\n]*`
  if (kind === kinds.mark) return endOfMarks(text, start);
  if (code === space && next === kinds.mark) return endOfMarks(text, start + 1);
  return endOfBlanks(text, start);
}

function kindAt({ codes, length }: Codes, at: number): number {
  return at < length ? (kindOf[codes[at] ?? 0] ?? kinds.mark) : kinds.none;
}

function endOfRun(text: Codes, start: number, kind: number): number {
  const last = Math.min(text.length, start + longestRun);
  let at = start;
  while (at < last && kindAt(text, at) === kind) at += 1;
  return at;
}

/** -1 when there is none. */
function endOfContraction({ codes, length }: Codes, start: number): number {
  const [first = 0, second = 0] = [codes[start], codes[start + 1]].map((code = 0) => code | lowerCase);
  const letters = String.fromCharCode(first, second);
  if (start < length && /^[sdmt]/.test(letters)) return start + 1;
  return start + 1 < length && /^(?:ll|ve|re)$/.test(letters) ? start + 2 : -1;
}

function endOfMarks(text: Codes, start: number): number {
  return endOfRun(text, endOfRun(text, start, kinds.mark), kinds.lineEnd);
}

function isBlank(text: Codes, at: number): boolean {
  const kind = kindAt(text, at);
  return kind === kinds.blank || kind === kinds.lineEnd;
}

function endOfBlanks(text: Codes, start: number): number {
  const last = Math.min(text.length, start + longestRun);
  let end = start;
  while (end < last && isBlank(text, end)) end += 1;
  // \s+$
  if (end === text.length) return end;
  // \s*[\r\n]
  const goesOn = isBlank(text, end);
  for (let at = goesOn ? end : end - 1; at >= start; at -= 1) {
    if (kindAt(text, at) === kinds.lineEnd) return at + 1;
  }
  // \s+(?!\S), then \s
  return goesOn ? end : Math.max(end - 1, start + 1);
}
