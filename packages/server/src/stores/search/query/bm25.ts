import type { QuestionWord } from '../analysis/question-terms.ts';
import type { RankedChunk } from '../chunk-index.ts';
import type { Statistics } from '../search-index.ts';

/** Scores are summed as integers in this unit, so that no order of summation and no database changes a rank. */
export const scoreUnits = 1_000_000_000;

const k1 = 1.2;
const b = 0.75;

export interface WeightedWord {
  readonly word: string;
  /** This word's share of the highest possible score, in score units. */
  readonly weight: number;
  /** What a chunk with the word scores besides, in score units. */
  readonly floor: number;
}

/** A chunk's score is Σ floor + weight · tf / (tf + base + perWord · length) over the query words that it contains. */
export interface WeightedQuery {
  readonly words: readonly WeightedWord[];
  readonly base: number;
  readonly perWord: number;
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
  const counted = words.map(({ terms, loose, factor, floor, exactFloor, isOptional }) => {
    const known = [...terms, ...loose].filter((term) => countOf(term) > 0);
    const fresh = known.filter((term) => !taken.has(term));
    for (const term of fresh) taken.add(term);
    const count = Math.min(
      fresh.reduce((sum, term) => sum + countOf(term), 0),
      chunks,
    );
    const isMissing = known.length === 0 && !isOptional;
    const exact = new Set(fresh.filter((term) => terms.includes(term)));
    const ofExact = exact.size > 0 && exact.size < fresh.length ? exactFloor : 0;
    const isKnown = fresh.length > 0;
    return { fresh, exact, floor, ofExact, ...weighWord({ count, chunks, factor }), isKnown, isMissing };
  });
  const highest = highestScore(counted);
  return {
    words: counted.flatMap(({ fresh, exact, factor, floor, ofExact, rarity }) => {
      const unit = (rarity / factor / highest) * scoreUnits;
      return fresh.map((word) => {
        return { word, weight: factor * unit, floor: (floor + (exact.has(word) ? ofExact : 0)) * unit };
      });
    }),
    base: k1 * (1 - b),
    perWord: (k1 * b * chunks) / Math.max(statistics.words, 1),
  };
}

/** The share of a question that a collection knows is computed for a collection with this many more chunks. Measured: ADR 0130. */
const otherChunks = 100;

interface WeighedWord {
  /** The factor of the word. */
  readonly factor: number;
  /** The floors of a chunk that has the word, as factors. */
  readonly floor: number;
  readonly ofExact: number;
  /** How rare the word is in the collection, times its factor. */
  readonly rarity: number;
  /** The same in a collection of `otherChunks` more, which lack the word. */
  readonly evenRarity: number;
}

function weighWord({ count, chunks, factor }: { count: number; chunks: number; factor: number }) {
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
      rarity += (word.rarity * (word.factor + word.floor + word.ofExact)) / word.factor;
      known += word.evenRarity;
    } else if (word.isMissing) missing += word.evenRarity;
    if (word.isKnown || word.isMissing) factors += word.factor;
  }
  return (rarity * (1 + missing / known)) / Math.min(factors, 1);
}

export function toMatch(row: { seq: number; score: number }): RankedChunk {
  return { seq: row.seq, score: Math.min(row.score / scoreUnits, 1) };
}
