import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import type { TextMatch } from './full-text.ts';

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

export interface Statistics {
  /** Number of chunks in the index. */
  readonly chunks: number;
  /** Number of words in all chunks, including repeats. */
  readonly words: number;
}

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

/** Computes the weights. `found` holds the number of chunks that contain each word; a missing word occurs in none. */
export function weigh(
  words: readonly string[],
  found: ReadonlyMap<string, number>,
  statistics: Statistics,
): WeightedQuery {
  const { chunks } = statistics;
  const countOf = (word: string) => found.get(word) ?? 0;
  const idfOf = (word: string) => Math.log(1 + (chunks - countOf(word) + 0.5) / (countOf(word) + 0.5));
  const highest = words.reduce((sum, word) => sum + idfOf(word), 0);
  const known = words.filter((word) => countOf(word) > 0);
  const most = chunks * (sharesBySize.find((size) => chunks >= size.chunks)?.share ?? 1);
  const selective = known.filter((word) => countOf(word) <= most);
  const used = selective.length > 0 ? selective : known;
  return {
    words: used.map((word) => ({ word, weight: (idfOf(word) / highest) * scoreUnits })),
    base: k1 * (1 - b),
    perWord: (k1 * b * chunks) / Math.max(statistics.words, 1),
  };
}

export function toMatch(row: { seq: number; score: number }): TextMatch {
  return { seq: row.seq, score: Math.min(row.score / scoreUnits, 1) };
}

/**
 * Makes words well-formed Unicode, removes NUL (PostgreSQL cannot store it) and truncates them. Empty results are
 * dropped.
 */
export function normaliseWords(words: readonly string[]): string[] {
  return words.every(isNormal) ? [...words] : words.map(normalise).filter((word) => word !== '');
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

const countedWord = new RegExp(`^(.+)${frequencySeparator}([1-9][0-9]{0,8})$`, 's');

/** Parses the `words` of a chunk: words separated by spaces, each followed by its frequency unless that is 1. */
export function readWords(words: string): TermFrequencies {
  const counts = new Map<string, number>();
  let length = 0;
  for (const part of words === '' ? [] : words.split(' ')) {
    const [, word = part, times = '1'] = countedWord.exec(part) ?? [];
    const normal = isNormal(word) ? word : normalise(word);
    if (normal === '') continue;
    length += Number(times);
    counts.set(normal, Math.min((counts.get(normal) ?? 0) + Number(times), mostRepeats));
  }
  return { counts, length: Math.min(length, mostLength) };
}
