import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import { longestWord, mostLength, mostRepeats, readWords } from './bm25.ts';
import type { IndexedChunk } from './full-text.ts';

const plainWord = /^[a-z0-9]+$/;
const parting = /[^a-z0-9\u0083-\u{10ffff}]/gu;

/**
 * FTS5's `ascii` tokenizer parts at ASCII that is neither letter nor digit, folds A–Z, and keeps all other characters
 * as they are. What it would touch (and our two marks) becomes U+0080 and the character's code.
 */
export function encodeWord(word: string): string {
  return plainWord.test(word) ? word : word.replace(parting, encodeCharacter);
}

function encodeCharacter(character: string): string {
  return `\u0080${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

export interface Terms {
  /** What FTS5 is given: for each word its term, with a blank between. */
  readonly terms: string;
  /** Words of the chunk, repeats counted. */
  readonly length: number;
}

/** The terms of a chunk's words. */
export function toTerms(words: string): Terms {
  return readTerms(words) ?? makeTerms(words);
}

function makeTerms(words: string): Terms {
  const { counts, length } = readWords(words);
  const terms = [...counts].map(([word, times]) => encodeWord(word) + frequencySeparator + times);
  return { terms: terms.join(' '), length };
}

const mark = frequencySeparator.charCodeAt(0);
const blank = 0x20;
const zero = 0x30;
/** `readWords` removes these characters, and truncates words that are too long. */
const removed = /[\0\ud800-\udfff]/;
const encoded = /^[a-z0-9 \u0081\u0083-\uffff]*$/;
const partingBetween = /[^a-z0-9 \u0081\u0083-\uffff]/g;

/**
 * The words of a document come counted, each once: then they are its terms, but for characters to encode. Undefined
 * where they have to be looked at one by one.
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

/** Where the next mark or blank is. */
function endOfPart(words: string, start: number): number {
  let at = start;
  for (; at < words.length; at += 1) {
    const code = words.charCodeAt(at);
    if (code === mark || code === blank) break;
  }
  return at;
}

/** 0 where no number stands that a term may have. */
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

/** Collections share so many indexes: an index of its own each is dear from some thousand on (ADR 0051). */
const shards = 16;
/** Ends the part of a term that says whose it is; `encodeWord` leaves none in a word. */
const endOfTag = '\u0082';

/** Where the words of a collection with this number are. */
export function toTables(number: number) {
  const shard = number % shards;
  return {
    table: `full_text_index_${shard}`,
    termsTable: `full_text_terms_${shard}`,
    /** Before each of its terms. */
    tag: number.toString(36) + endOfTag,
  };
}

/** Of a row id and terms. */
export function insertTermsInto(table: string): string {
  return `insert into ${table} (rowid, words) values (?, ?)`;
}

/** A row id of the index is that of its chunk times this, and the chunk's length. */
export const lengthsOfRow = mostLength + 1;

/** The row id of a chunk. A number would be bound as a REAL. */
export function toRowId(seq: number, length: number): bigint {
  return BigInt(seq * lengthsOfRow + length);
}

export interface IndexRow {
  readonly values: readonly [rowId: bigint, terms: string];
  /** Words of the chunk, repeats counted. */
  readonly length: number;
}

/** A chunk as the index has it, its terms with the tag of their collection. */
export function toIndexRow({ seq, words }: IndexedChunk, tag: string): IndexRow {
  const { terms, length } = toTerms(words);
  return { values: [toRowId(seq, length), terms === '' ? '' : tag + terms.replaceAll(' ', ` ${tag}`)], length };
}
