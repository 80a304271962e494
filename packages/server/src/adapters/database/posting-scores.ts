import { mostLength, type Weighing } from './bm25.ts';

/** A chunk's place in a posting list says its length, too: seq · 65536 + length. */
export const lengthsOfId = mostLength + 1;

/** Chunks that have a word, and how often each has it, in the same order: arrays as PostgreSQL writes them, `{1,2},{3}`. */
export interface WordPostings {
  readonly ids: string;
  readonly repeats: string;
  /** What the word counts, in score units. */
  readonly weight: number;
}

export interface ScoredId {
  readonly id: number;
  readonly score: number;
}

export interface Scoring extends Omit<Weighing, 'words'> {
  /** Of all words together, at most. */
  readonly postings: number;
  readonly count: number;
}

/** The best `count` of the chunks: the best first, equal ones in the order of their ids. */
export type ScorePostings = (words: readonly WordPostings[], scoring: Scoring) => ScoredId[];

/** A hash table with open places. 0 is no id: the numbers that a database gives chunks begin with 1. */
interface Table {
  readonly bits: number;
  readonly ids: Float64Array;
  readonly scores: Int32Array;
}

const createTable = (bits: number): Table => ({
  bits,
  ids: new Float64Array(2 ** bits),
  scores: new Int32Array(2 ** bits),
});

/**
 * Adds up scores by chunk, several times as fast as PostgreSQL does it by `group by` (ADR 0043). The table is used again
 * and again: made anew for each question it costs more than the adding, in garbage.
 */
export function createScorePostings(): ScorePostings {
  let kept: Table | undefined;
  return (words, { postings, count, ...formula }) => {
    const bits = Math.max(10, Math.ceil(Math.log2(Math.max(postings, 1) * 2)));
    if (kept === undefined || kept.bits < bits) kept = createTable(bits);
    else kept.ids.fill(0);
    for (const word of words) addWord(kept, word, formula);
    return findBest(kept, count);
  };
}

const zero = 48;
const nine = 57;

function addWord(table: Table, { ids: places, repeats, weight }: WordPostings, formula: Omit<Weighing, 'words'>): void {
  const { ids, scores, bits } = table;
  const { base, perWord } = formula;
  const mask = ids.length - 1;
  let at = 0;
  for (let from = 0; from < places.length; from++) {
    // Both texts have their signs in the same places.
    let id = 0;
    let digit = places.charCodeAt(from);
    for (; digit >= zero && digit <= nine; digit = places.charCodeAt(++from)) id = id * 10 + digit - zero;
    let times = 0;
    digit = repeats.charCodeAt(at);
    for (; digit >= zero && digit <= nine; digit = repeats.charCodeAt(++at)) times = times * 10 + digit - zero;
    at += 1;
    if (id === 0) continue;
    // The operations in the order in which SQLite has them, so that both get the very same number.
    const points = Math.trunc((weight * times) / (times + base + perWord * (id % lengthsOfId)));
    let slot = Math.imul(Math.floor(id / lengthsOfId), 0x9e3779b1) >>> (32 - bits);
    while (ids[slot] !== 0 && ids[slot] !== id) slot = (slot + 1) & mask;
    scores[slot] = ids[slot] === 0 ? points : (scores[slot] ?? 0) + points;
    ids[slot] = id;
  }
}

export const better = (a: ScoredId, b: ScoredId): number => b.score - a.score || a.id - b.id;

/** Keeps twice as many as are wanted and, each time there are so many, throws the worse half away. */
function findBest({ ids, scores }: Table, count: number): ScoredId[] {
  let kept: ScoredId[] = [];
  let least = 0;
  for (let slot = 0; slot < ids.length; slot++) {
    const id = ids[slot] ?? 0;
    if (id === 0) continue;
    const score = scores[slot] ?? 0;
    if (score < least) continue;
    kept.push({ id, score });
    if (kept.length < 2 * count) continue;
    kept = kept.sort(better).slice(0, count);
    least = kept.at(-1)?.score ?? 0;
  }
  return kept.sort(better).slice(0, count);
}
