import { BytePairEncodingCore } from 'gpt-tokenizer/BytePairEncodingCore';
import ranks from 'gpt-tokenizer/bpeRanks/cl100k_base';

/** The bound of each repetition in the pattern. */
const longestRun = 128;

/**
 * Tokens of cl100k_base. The pattern is the published one with a bound on every repetition: byte pair merging takes
 * quadratic time in the length of a piece, and an unbounded `\p{L}+` overflows the stack of the regex engine on a long
 * line. Counts differ from other implementations only where a run without a break is longer than the bound.
 */
const pieces = new RegExp(
  [
    `'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE])`,
    `[^\\r\\n\\p{L}\\p{N}]?\\p{L}{1,${longestRun}}`,
    `\\p{N}{1,3}`,
    ` ?[^\\s\\p{L}\\p{N}]{1,${longestRun}}[\\r\\n]{0,${longestRun}}`,
    `\\s{1,${longestRun}}$`,
    `\\s{0,${longestRun}}[\\r\\n]`,
    `\\s{1,${longestRun}}(?!\\S)`,
    `\\s`,
  ].join('|'),
  'gu',
);
// Once the library's cache is full, evicting one piece takes linear time. Emptying the cache early avoids this.
const mostCached = 50_000;
const core = new BytePairEncodingCore({
  bytePairRankDecoder: ranks,
  tokenSplitRegex: pieces,
  mergeCacheSize: Number.POSITIVE_INFINITY,
});
let encodedSinceCleared = 0;

function clearWhenFull(): void {
  encodedSinceCleared += 1;
  if (encodedSinceCleared <= mostCached) return;
  core.clearMergeCache();
  encodedSinceCleared = 0;
}

/** The tokens of each piece, in order. */
function* encodePieces(text: string): Generator<readonly number[], undefined> {
  for (const tokens of core.encodeNativeGenerator(text)) {
    clearWhenFull();
    yield tokens;
  }
}

/** Returns the number of tokens of a text, in time linear in its length. */
export function countTokens(text: string): number {
  let count = 0;
  for (const [piece] of text.matchAll(pieces)) count += countPiece(piece);
  return count;
}

const mostCounted = 10_000;
/** V8 copies a piece up to this length. A longer piece would keep its source text in memory. */
const longestCounted = 12;
/**
 * Caches the counts of short pieces. It fits into a processor's cache, unlike the table of all ranks: five times as
 * fast.
 */
const counted = new Map<string, number>();

function countPiece(piece: string): number {
  if (piece.length > longestCounted) return countNewPiece(piece);
  const known = counted.get(piece);
  if (known !== undefined) return known;
  if (counted.size === mostCounted) counted.clear();
  const count = countNewPiece(piece);
  counted.set(piece, count);
  return count;
}

function countNewPiece(piece: string): number {
  clearWhenFull();
  return core.countNative(piece);
}

/** Where a text may be cut. Cuts are numbered from 0 (before the first character); the last is the end of the text. */
export interface TokenMap {
  readonly numCuts: number;
  /** Character offset of a cut, in UTF-16 code units; never inside a surrogate pair. */
  offset(cut: number): number;
  /** Tokens before a cut. */
  tokens(cut: number): number;
}

/** These characters end sentences without a space after them, so the pattern counts them as the beginning of the next word. */
const stops = new Set('。！？');
/** Words of up to this number of tokens stay whole. */
const longestWhole = 16;

/** Finds the places between words, and between characters inside of very long words. */
export function mapTokens(text: string): TokenMap {
  const offsets = createGrowingArray(text.length + 1);
  const counts = createGrowingArray(text.length + 1);
  let offset = 0;
  let count = 0;
  const add = (characters: number, tokens: number) => {
    offset += characters;
    count += tokens;
    offsets.push(offset);
    counts.push(count);
  };
  add(0, 0);
  const encoded = encodePieces(text);
  for (const [piece] of text.matchAll(pieces)) {
    // Both iterate over the same pieces, so `encoded` does not end first.
    const tokens = encoded.next().value ?? [];
    if (tokens.length > longestWhole) addInside(piece, tokens, add);
    else if (
      tokens.length > 1 &&
      stops.has(piece.charAt(0)) &&
      core.decodeNative(tokens.slice(0, 1)) === piece.charAt(0)
    ) {
      add(1, 1);
      add(piece.length - 1, tokens.length - 1);
    } else add(piece.length, tokens.length);
  }
  return { numCuts: offsets.length(), offset: offsets.at, tokens: counts.at };
}

/** Adds cuts between characters, because a token may end within the bytes of a character. */
function addInside(piece: string, tokens: readonly number[], add: (characters: number, tokens: number) => void): void {
  const bytesOfTokens = [...core.decodeNativeGenerator(tokens)].map((token) => Buffer.byteLength(token));
  let characters = 0;
  let bytesLeft = 0;
  let tokensTaken = 0;
  let next = 0;
  for (const character of piece) {
    characters += character.length;
    bytesLeft -= Buffer.byteLength(character);
    while (bytesLeft < 0 && next < bytesOfTokens.length) {
      bytesLeft += bytesOfTokens[next] ?? 0;
      next += 1;
      tokensTaken += 1;
    }
    if (bytesLeft !== 0) continue;
    add(characters, tokensTaken);
    characters = 0;
    tokensTaken = 0;
  }
  if (characters > 0) add(characters, tokensTaken);
}

interface GrowingArray {
  push(value: number): void;
  at(index: number): number;
  length(): number;
}

/** Integers in a buffer that grows without copying: a text of 50 MB has 12 million of them. */
function createGrowingArray(capacity: number): GrowingArray {
  const buffer = new ArrayBuffer(4096, { maxByteLength: Math.max(4096, capacity * 4) });
  const values = new Int32Array(buffer);
  let length = 0;
  return {
    push: (value) => {
      if (length === values.length) buffer.resize(Math.min(buffer.maxByteLength, buffer.byteLength * 2));
      values[length] = value;
      length += 1;
    },
    at: (index) => values[index] ?? 0,
    length: () => length,
  };
}
