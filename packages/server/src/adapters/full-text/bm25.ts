import type { QuestionWord } from '../../search/analysis/question-terms.ts';
import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import type { RankedChunk } from '../../search/chunk-index.ts';
import type { Statistics } from '../../search/search-index.ts';

/** Scores are summed as integers in this unit, so that no order of summation and no database changes a rank. */
export const scoreUnits = 1_000_000_000;
/** Upper bounds: larger repeats and lengths are counted as these. */
export const mostRepeats = 255;
export const mostLength = 65_535;

const k1 = 1.2;
const b = 0.75;
/**
 * From this number of chunks on, words that occur in a larger share of them are skipped. They cost most and contribute
 * least (ADR 0043).
 */
const sharesBySize = [
  { chunks: 50_000, share: 1 / 6 },
  { chunks: 1000, share: 1 / 2 },
] as const;
/**
 * The code units that are kept of one word. Real words are shorter, and PostgreSQL limits the size of index entries.
 */
export const longestWord = 128;

export interface WeightedWord {
  readonly word: string;
  /** This word's share of the highest possible score, in score units. */
  readonly weight: number;
}

/** A chunk's score is Σ weight · tf / (tf + base + perWord · length) over the query words that it contains. */
export interface WeightedQuery {
  readonly words: readonly WeightedWord[];
  readonly base: number;
  readonly perWord: number;
}

/**
 * Computes the weights of the words that a search matches: with `weigh`, words that most chunks contain are skipped
 * (ADR 0043). `found` holds the number of chunks that contain each word; a missing word occurs in none.
 */
export function weigh(
  words: readonly string[],
  found: ReadonlyMap<string, number>,
  statistics: Statistics,
): WeightedQuery {
  const { chunks } = statistics;
  const most = chunks * (sharesBySize.find((size) => chunks >= size.chunks)?.share ?? 1);
  const selective = words.filter((word) => (found.get(word) ?? 0) > 0 && (found.get(word) ?? 0) <= most);
  const weighed = weighAll(words, found, statistics);
  if (selective.length === 0) return weighed;
  return { ...weighed, words: weighed.words.filter(({ word }) => selective.includes(word)) };
}

/** Computes the weights of all words that some chunk contains. */
export function weighAll(
  words: readonly string[],
  found: ReadonlyMap<string, number>,
  statistics: Statistics,
): WeightedQuery {
  const { chunks } = statistics;
  const counted = words.map((word) => {
    const count = found.get(word) ?? 0;
    return { word, ...weighWord({ count, chunks, factor: 1 }), isKnown: count > 0, isMissing: count === 0 };
  });
  const highest = highestScore(counted);
  const known = counted.filter(({ isKnown }) => isKnown);
  return {
    words: known.map(({ word, rarity }) => ({ word, weight: (rarity / highest) * scoreUnits })),
    base: k1 * (1 - b),
    perWord: (k1 * b * chunks) / Math.max(statistics.words, 1),
  };
}

/**
 * Computes the weights of the terms that some chunk contains. The terms of a word share its rarity. A term belongs to the first
 * word that has it, so that two forms of one word count once.
 */
export function weighTerms(
  words: readonly QuestionWord[],
  countOf: (term: string) => number,
  statistics: Statistics,
): WeightedQuery {
  const { chunks } = statistics;
  const taken = new Set<string>();
  const counted = words.map(({ terms, factor, isOptional }) => {
    const known = terms.filter((term) => countOf(term) > 0);
    const fresh = known.filter((term) => !taken.has(term));
    for (const term of fresh) taken.add(term);
    const count = Math.min(
      fresh.reduce((sum, term) => sum + countOf(term), 0),
      chunks,
    );
    const isMissing = known.length === 0 && !isOptional;
    return { fresh, ...weighWord({ count, chunks, factor }), isKnown: fresh.length > 0, isMissing };
  });
  const highest = highestScore(counted);
  return {
    words: counted.flatMap(({ fresh, rarity }) =>
      fresh.map((word) => ({ word, weight: (rarity / highest) * scoreUnits })),
    ),
    base: k1 * (1 - b),
    perWord: (k1 * b * chunks) / Math.max(statistics.words, 1),
  };
}

/** The share of a question that a collection knows is computed for a collection with this many more chunks. Measured: ADR 0163. */
const otherChunks = 100;

interface WeighedWord {
  /** The factor of the word. */
  readonly factor: number;
  /** How rare the word is in the collection, times its factor. */
  readonly rarity: number;
  /** The same in a collection of `otherChunks` more, which lack the word. */
  readonly evenRarity: number;
}

function weighWord({ count, chunks, factor }: { count: number; chunks: number; factor: number }): WeighedWord {
  const rarityAmong = (all: number) => factor * Math.log(1 + (all - count + 0.5) / (count + 0.5));
  return { factor, rarity: rarityAmong(chunks), evenRarity: rarityAmong(chunks + otherChunks) };
}

/**
 * Returns the sum by which scores are divided. A score is the share of the known words that a chunk covers, times the share of the
 * question that the collection knows. The second share is computed with `evenRarity`, because most chunks of a small collection
 * contain each of its words, and one missing word would outweigh all others. A question counts as at least one word, so
 * that a stop word alone is no good match.
 */
function highestScore(
  words: ReadonlyArray<WeighedWord & { readonly isKnown: boolean; readonly isMissing: boolean }>,
): number {
  let [rarity, known, missing, factors] = [0, 0, 0, 0];
  for (const word of words) {
    if (word.isKnown) {
      rarity += word.rarity;
      known += word.evenRarity;
    } else if (word.isMissing) missing += word.evenRarity;
    if (word.isKnown || word.isMissing) factors += word.factor;
  }
  return (rarity * (1 + missing / known)) / Math.min(factors, 1);
}

export function toMatch(row: { seq: number; score: number }): RankedChunk {
  return { seq: row.seq, score: Math.min(row.score / scoreUnits, 1) };
}

/**
 * Makes words well-formed Unicode, removes NUL (PostgreSQL cannot store it) and truncates them. Empty results are
 * dropped.
 */
export function normaliseWords(words: readonly string[]): string[] {
  return words.every(isNormal) ? [...words] : words.map(normalise).filter((word) => word !== '');
}

/** Normalises the folded words of a question; null when it has none. */
export function normaliseFolded({ folded }: { readonly folded?: readonly string[] | undefined }): string[] | null {
  return folded === undefined ? null : [...new Set(normaliseWords(folded))];
}

const plain = /^[a-z0-9]+$/;

function isNormal(word: string): boolean {
  if (plain.test(word)) return word.length <= longestWord;
  return word !== '' && word.length <= longestWord && word.isWellFormed() && !word.includes('\0');
}

function normalise(word: string): string {
  return word.slice(0, longestWord).toWellFormed().replaceAll('\0', '');
}

/** The distinct words of a chunk with their frequencies. `length` counts all words, including repeats. */
export interface TermFrequencies {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Parses the `words` of a chunk: words separated by spaces, each followed by its frequency unless that is 1. */
export function readWords(words: string): TermFrequencies {
  const counts = new Map<string, number>();
  let length = 0;
  const isClean = words.isWellFormed() && !words.includes('\0');
  for (let from = 0; from < words.length; ) {
    const space = words.indexOf(' ', from);
    const part = words.slice(from, space < 0 ? words.length : space);
    from += part.length + 1;
    const mark = part.lastIndexOf(frequencySeparator);
    const times = mark > 0 ? readFrequency(part, mark + 1) : 0;
    const word = times === 0 ? part : part.slice(0, mark);
    const normal = isClean && word.length <= longestWord ? word : normalise(word);
    if (normal === '') continue;
    length += Math.max(times, 1);
    counts.set(normal, Math.min((counts.get(normal) ?? 0) + Math.max(times, 1), mostRepeats));
  }
  return { counts, length: Math.min(length, mostLength) };
}

const zero = '0'.charCodeAt(0);
const mostDigits = 9;

/** Reads the whole number from 1 on that ends the text. Returns 0 when there is none. */
function readFrequency(text: string, from: number): number {
  if (text.length - from > mostDigits) return 0;
  let number = 0;
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9 || (digit === 0 && at === from)) return 0;
    number = number * 10 + digit;
  }
  return number;
}
