import { fileDamaged } from '../../extraction-error.ts';

/** A part of an RTF file. */
export type RtfToken =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  /** A control word, or a control symbol such as `~`. */
  | { readonly kind: 'control'; readonly word: string; readonly value: number | undefined }
  /** Characters of the code page: one byte of `\'hh`, or bytes as they are. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly isEscaped: boolean };

const [backslash, open, close, carriageReturn, lineFeed, apostrophe, minus, space] = [
  ...[0x5c, 0x7b, 0x7d, 0x0d, 0x0a, 0x27, 0x2d, 0x20],
] as [number, number, number, number, number, number, number, number];
/** Groups are never nested deeper by a program. */
const deepest = 1_000;
const longestWord = 40;
const mostDigits = 10;

const isLetter = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
const isPlain = (code: number) =>
  code !== backslash && code !== open && code !== close && code !== carriageReturn && code !== lineFeed;

/**
 * Cuts a file into tokens, up to the end of its outermost group. Binary data is skipped. The time is linear.
 * @throws ExtractionError when groups are nested too deep
 */
export function* readTokens(bytes: Uint8Array): Generator<RtfToken, void, undefined> {
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const code = bytes[at] as number;
    if (code === open || code === close) {
      depth += code === open ? 1 : -1;
      if (depth > deepest) throw fileDamaged('RTF', 'its groups are nested too deep');
      at += 1;
      yield { kind: code === open ? 'open' : 'close' };
      if (depth <= 0) return;
    } else if (code === carriageReturn || code === lineFeed) {
      at += 1;
    } else if (code !== backslash) {
      const from = at;
      while (at < bytes.length && isPlain(bytes[at] as number)) at += 1;
      yield { kind: 'bytes', bytes: bytes.subarray(from, at), isEscaped: false };
    } else {
      const { token, next } = readControl(bytes, at + 1);
      at = next;
      if (token.kind === 'control' && token.word === 'bin') at += Math.max(0, token.value ?? 0);
      else yield token;
    }
  }
}

function readControl(bytes: Uint8Array, from: number): { token: RtfToken; next: number } {
  let at = from;
  while (at < bytes.length && at - from < longestWord && isLetter(bytes[at] as number)) at += 1;
  if (at === from) return readSymbol(bytes, from);
  const word = latin(bytes, from, at);
  const digits = at;
  if (bytes[at] === minus) at += 1;
  while (at < bytes.length && at - digits <= mostDigits && isDigit(bytes[at] as number)) at += 1;
  const number = latin(bytes, digits, at);
  if (number === '-') at -= 1;
  const value = number === '' || number === '-' ? undefined : Number(number);
  // One blank ends the word and is not text.
  return { token: { kind: 'control', word, value }, next: bytes[at] === space ? at + 1 : at };
}

function readSymbol(bytes: Uint8Array, at: number): { token: RtfToken; next: number } {
  const code = bytes[at];
  if (code === apostrophe) {
    const value = Number.parseInt(latin(bytes, at + 1, at + 3), 16);
    const token = { kind: 'bytes', bytes: Uint8Array.of(Number.isNaN(value) ? 0x3f : value), isEscaped: true } as const;
    return { token, next: at + 3 };
  }
  // The end of a line after a backslash is the end of a paragraph.
  const word = code === carriageReturn || code === lineFeed ? 'par' : latin(bytes, at, at + 1);
  return { token: { kind: 'control', word, value: undefined }, next: at + 1 };
}

function latin(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to)); // at most 40 characters
}
