import assert from 'node:assert/strict';
import { createNewId } from '../../../platform/identifier.ts';
import type { RankedChunk } from '../../../stores/search/chunk-index.ts';
import type { Database } from '../../database/database.ts';

const newId = createNewId();
const projectId = 'proj00000000000000000000';

/** Uses the index as the modules do: it writes the rows of `chunk` and their index entries in one transaction. */
export function createCorpus(database: Database, collectionId: string) {
  async function insertChunks(texts: readonly (readonly string[])[], recordId: string | null, generation: number) {
    return database.write.transaction().execute(async (transaction) => {
      const rows = await transaction
        .insertInto('chunk')
        .values(
          texts.map((_, ordinal) => ({
            ...emptyChunk,
            id: newId('chunk'),
            collection_id: collectionId,
            record_id: recordId,
            generation,
            ordinal,
          })),
        )
        .returning(['seq', 'ordinal'])
        .execute();
      const seqs = rows.sort((a, b) => a.ordinal - b.ordinal).map((row) => row.seq);
      const indexed = texts.map((words, place) => ({ seq: seqs[place] ?? -1, words: words.join(' ') }));
      await database.searchIndex.add(transaction, collectionId, indexed);
      return seqs;
    });
  }
  return {
    add: (...texts: string[]) =>
      insertChunks(
        texts.map((text) => text.split(' ')),
        null,
        0,
      ),
    addTerms: (texts: readonly (readonly string[])[]) => insertChunks(texts, null, 0),
    addToRecord: (recordId: string, generation: number, text: string) =>
      insertChunks([text.split(' ')], recordId, generation),
    remove: (seqs: readonly number[]) =>
      database.write
        .transaction()
        .execute((transaction) => database.searchIndex.remove(transaction, collectionId, seqs)),
    search: (words: readonly string[], limit = 10) =>
      database.searchIndex.ask(database.read, { collectionId, words, limit }),
  };
}
export type Corpus = ReturnType<typeof createCorpus>;

export const emptyChunk = {
  project_id: projectId,
  content: '',
  question: null,
  answer: null,
  num_tokens: 0,
  metadata: '{}',
  locator: null,
  created_at: 1,
  updated_at: 1,
};

/**
 * Computes the formula of `search-index.ts` directly over all texts.
 * @param factors how much words of the question count; 1 by default
 */
export function rankByHand(
  texts: ReadonlyMap<number, readonly string[]>,
  query: readonly string[],
  factors: ReadonlyMap<string, number> = new Map(),
): RankedChunk[] {
  const all = [...texts.values()];
  const averageLength = all.reduce((sum, words) => sum + words.length, 0) / all.length;
  const idfs = new Map(
    [...new Set(query)].map((word) => {
      const n = all.filter((words) => words.includes(word)).length;
      return [word, (factors.get(word) ?? 1) * Math.log(1 + (all.length - n + 0.5) / (n + 0.5))];
    }),
  );
  const isKnown = (word: string) => all.some((words) => words.includes(word));
  const knownIdf = [...idfs].reduce((sum, [word, idf]) => sum + (isKnown(word) ? idf : 0), 0);
  // The share of the question that the collection knows, as if it had 100 more texts: ADR 0130.
  const even = (word: string) => {
    const n = all.filter((words) => words.includes(word)).length;
    return (factors.get(word) ?? 1) * Math.log(1 + (all.length + 100 - n + 0.5) / (n + 0.5));
  };
  const asked = [...idfs.keys()];
  const evenSum = (words: readonly string[]) => words.reduce((sum, word) => sum + even(word), 0);
  const knownShare = evenSum(asked.filter(isKnown)) / evenSum(asked);
  const wholeWords = Math.min(
    1,
    asked.reduce((sum, word) => sum + (factors.get(word) ?? 1), 0),
  );
  const highest = (knownIdf * 2.2) / (knownShare * wholeWords);
  const matches = [...texts].map(([seq, words]) => {
    let score = 0;
    for (const [word, idf] of idfs) {
      const repeats = words.filter((each) => each === word).length;
      score += (idf * repeats * 2.2) / (repeats + 1.2 * (0.25 + (0.75 * words.length) / averageLength));
    }
    return { seq, score: score / highest };
  });
  return matches.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.seq - b.seq);
}

export function assertSameRanking(found: readonly RankedChunk[], expected: readonly RankedChunk[]): void {
  assert.equal(found.length, expected.length);
  for (const [place, { seq, score }] of expected.entries()) {
    const scoreFound = found[place]?.score ?? -1;
    assert.ok(Math.abs(scoreFound - score) <= 1e-6, `score ${scoreFound} instead of ${score} at place ${place}`);
    const tied = expected.some((other) => other.seq !== seq && Math.abs(other.score - score) <= 1e-6);
    if (!tied) assert.equal(found[place]?.seq, seq);
  }
}

/** Returns the same sequence of numbers in every run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}
