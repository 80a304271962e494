import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import type { TextMatch } from './full-text.ts';

/** Scores are summed as whole numbers of this fraction of 1, so that no order of summing and no database changes a rank. */
export const scoreUnits = 1_000_000_000;
/** Repeats and lengths beyond these count as these. */
export const mostRepeats = 255;
export const mostLength = 65_535;

const k1 = 1.2;
const b = 0.75;
/** From so many chunks on, words that a larger share of them has are left out: they cost most and say least (ADR 0043). */
const sharesBySize = [
  { chunks: 50_000, share: 1 / 6 },
  { chunks: 1000, share: 1 / 2 },
] as const;
/** Code units kept of one word; a longer one is hardly a word, and PostgreSQL's index entries are bounded. */
export const longestWord = 128;

export interface Statistics {
  /** Chunks in the index. */
  readonly chunks: number;
  /** Words in all of them, repeats counted. */
  readonly words: number;
}

export interface WeighedWord {
  readonly word: string;
  /** This word's share of the highest possible score, in score units. */
  readonly weight: number;
}

/** A chunk's score is Σ weight · tf / (tf + base + perWord · length) over the words it has. */
export interface Weighing {
  readonly words: readonly WeighedWord[];
  readonly base: number;
  readonly perWord: number;
}

/** `found` holds how many chunks have the word; words it lacks were found nowhere. */
export function weigh(words: readonly string[], found: ReadonlyMap<string, number>, statistics: Statistics): Weighing {
  const { chunks } = statistics;
  const countOf = (word: string) => found.get(word) ?? 0;
  const idfOf = (word: string) => Math.log(1 + (chunks - countOf(word) + 0.5) / (countOf(word) + 0.5));
  const highest = words.reduce((sum, word) => sum + idfOf(word), 0);
  const known = words.filter((word) => countOf(word) > 0);
  const most = chunks * (sharesBySize.find((size) => chunks >= size.chunks)?.share ?? 1);
  const telling = known.filter((word) => countOf(word) <= most);
  const used = telling.length > 0 ? telling : known;
  return {
    words: used.map((word) => ({ word, weight: (idfOf(word) / highest) * scoreUnits })),
    base: k1 * (1 - b),
    perWord: (k1 * b * chunks) / Math.max(statistics.words, 1),
  };
}

export function toMatch(row: { seq: number; score: number }): TextMatch {
  return { seq: row.seq, score: Math.min(row.score / scoreUnits, 1) };
}

/** Well-formed, without NUL (PostgreSQL stores none) and of bounded length; what is left empty is no word. */
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

/** The words of a chunk to be indexed, and how often each occurs; `length`: all of them, repeats counted. */
export interface TermFrequencies {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

const countedWord = new RegExp(`^(.+)${frequencySeparator}([1-9][0-9]{0,8})$`, 's');

/** Reads `words` of a chunk: words with a blank between, each with the times it occurs where it does not stand alone. */
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
