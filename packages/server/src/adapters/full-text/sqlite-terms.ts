import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import type { IndexedChunk } from '../../search/search-index.ts';
import { longestWord, mostLength, mostRepeats, readWords } from './bm25.ts';

const plainWord = /^[a-z0-9]+$/;
const parting = /[^a-z0-9\u0083-\u{10ffff}]/gu;

/**
 * Encodes a word for FTS5's `ascii` tokenizer, which splits at ASCII characters other than letters and digits, folds
 * A–Z, and keeps all other characters. Each character that it would change, and the two marks used here, becomes U+0080
 * and the character's code.
 */
export function encodeWord(word: string): string {
  return plainWord.test(word) ? word : word.replace(parting, encodeCharacter);
}

function encodeCharacter(character: string): string {
  return `\u0080${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

export interface Terms {
  /** The input for FTS5: the term of each word, separated by spaces. */
  readonly terms: string;
  /** Number of words in the chunk, including repeats. */
  readonly length: number;
}

/** Returns the terms of a chunk's words. */
export function toTerms(words: string): Terms {
  return readTerms(words) ?? encodeTerms(words);
}

function encodeTerms(words: string): Terms {
  const { counts, length } = readWords(words);
  const terms = [...counts].map(([word, times]) => encodeWord(word) + frequencySeparator + times);
  return { terms: terms.join(' '), length };
}

const mark = frequencySeparator.charCodeAt(0);
const blank = 0x20;
const zero = 0x30;
/** Characters that `readWords` removes. It also truncates words that are too long. */
const removed = /[\0\ud800-\udfff]/;
const encoded = /^[a-z0-9 \u0081\u0083-\uffff]*$/;
const partingBetween = /[^a-z0-9 \u0081\u0083-\uffff]/g;

/**
 * Converts the words of a document, which come distinct and with frequencies. They are already terms, except for
 * characters to encode. Returns undefined when each word must be processed separately.
 */
function readTerms(words: string): Terms | undefined {
  if (removed.test(words)) return undefined;
  let length = 0;
  for (let start = 0; start < words.length; ) {
    const endOfWord = endOfPart(words, start);
    const end = endOfPart(words, endOfWord + 1);
    const isWord = endOfWord > start && endOfWord - start <= longestWord && words.charCodeAt(endOfWord) === mark;
    const times = readTimes(words, endOfWord + 1, end);
    if (!isWord || times === 0 || words.charCodeAt(end) === mark) return undefined;
    length += times;
    start = end + 1;
  }
  const terms = encoded.test(words) ? words : words.replace(partingBetween, encodeCharacter);
  return { terms, length: Math.min(length, mostLength) };
}

/** Returns the position of the next mark or space. */
function endOfPart(words: string, start: number): number {
  let at = start;
  for (; at < words.length; at += 1) {
    const code = words.charCodeAt(at);
    if (code === mark || code === blank) break;
  }
  return at;
}

/** Reads a frequency. Returns 0 when the text is not a valid frequency of a term. */
function readTimes(words: string, start: number, end: number): number {
  let times = 0;
  for (let at = start; at < end; at += 1) {
    const digit = words.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9 || (at === start && digit === 0)) return 0;
    times = times * 10 + digit;
    if (times > mostRepeats) return 0;
  }
  return times;
}

/**
 * The number of indexes that all collections share. An index for each collection becomes expensive with several
 * thousand collections (ADR 0051).
 */
const shards = 16;
/** Ends the tag of a term. `encodeWord` leaves no such character in a word. */
const endOfTag = '\u0082';

/** Returns the place of the words of the collection with this number. */
export function toTables(number: number) {
  const shard = number % shards;
  return {
    table: `full_text_index_${shard}`,
    termsTable: `full_text_terms_${shard}`,
    /** The prefix of each of the collection's terms. */
    tag: number.toString(36) + endOfTag,
  };
}

/** Returns the insert statement for a row id and its terms. */
export function insertTermsInto(table: string): string {
  return `insert into ${table} (rowid, words) values (?, ?)`;
}

/** The row id in the index is the chunk's seq times this, plus the chunk's length. */
export const lengthsOfRow = mostLength + 1;

/** Returns the row id of a chunk as a bigint, because a number would be bound as REAL. */
export function toRowId(seq: number, length: number): bigint {
  return BigInt(seq * lengthsOfRow + length);
}

export interface IndexRow {
  readonly values: readonly [rowId: bigint, terms: string];
  /** Number of words in the chunk, including repeats. */
  readonly length: number;
}

/** Converts a chunk to its index row. Each term gets the tag of the collection. */
export function toIndexRow({ seq, words }: IndexedChunk, tag: string): IndexRow {
  const { terms, length } = toTerms(words);
  return { values: [toRowId(seq, length), terms === '' ? '' : tag + terms.replaceAll(' ', ` ${tag}`)], length };
}
