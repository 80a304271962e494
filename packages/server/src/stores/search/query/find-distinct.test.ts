import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DescribedChunk } from '../chunk-index.ts';
import { createFindDistinct, type DistinctQuestion, ranked } from './find-distinct.ts';
import type { Question } from './retrieve.ts';

const question: DistinctQuestion = {
  ...{ projectId: 'p', keyId: null, collectionIds: ['c'], text: 'red', words: ['red'], results: 3 },
  ...{ maxTokens: Number.POSITIVE_INFINITY, isFirstPage: true },
};

const describe = (text: string): DescribedChunk => ({
  ...{ id: text, collectionId: 'c', recordId: null, numTokens: text.length, weight: 1, text },
});

/** Ranks these texts in their order, by words. Returns how many each attempt asked for. */
function open(texts: readonly string[], isFused = false) {
  const limits: number[] = [];
  const find = createFindDistinct<string>({
    chunks: { describe: async (seqs) => new Map(seqs.map((seq) => [seq, describe(texts[seq] ?? '')])) },
    describe,
    async retrieve({ limit: pool, enough }: Question) {
      const limit = (isFused ? undefined : enough) ?? pool;
      limits.push(limit);
      const hits = texts.slice(0, limit).map((text, seq) => ({
        ...{ seq, score: 1 - seq / 10_000, words: null, vector: null },
        ...(limit === enough ? { chunk: text } : {}),
      }));
      return { hits, ranking: isFused ? 'fused' : 'words', reason: null, limit };
    },
  });
  const textsOf = async (more: Partial<DistinctQuestion> = {}) =>
    (await find({ ...question, ...more })).hits.map(({ described }) => described.text);
  return { find, limits, textsOf };
}

const different = (count: number) => Array.from({ length: count }, (_, n) => `text ${n}`);

test('a short question by words ranks one chunk more than it needs', async () => {
  const { textsOf, limits } = open(different(200));
  assert.deepEqual(await textsOf(), different(4));
  assert.deepEqual(limits, [4]);
});

test('later pages, long answers and questions with vectors rank the same pool, whatever the page', async () => {
  const { textsOf, limits } = open(different(2000));
  assert.equal((await textsOf({ isFirstPage: false })).length, ranked.least);
  assert.equal((await textsOf({ results: 100 })).length, 500);
  assert.equal((await textsOf({ results: 100, isFirstPage: false })).length, 500);
  assert.deepEqual(limits, [50, 500, 500]);
  const fused = open(different(2000), true);
  assert.deepEqual(await fused.textsOf(), await fused.textsOf({ isFirstPage: false }));
  assert.deepEqual(fused.limits, [50, 50]);
});

test('the limit question_ranked bounds a question whose best chunks have the same text', async () => {
  const { textsOf, limits } = open([...Array.from({ length: ranked.most - 1 }, () => 'a'), ...different(9)]);
  assert.deepEqual(await textsOf(), ['a', 'text 0']);
  assert.deepEqual(limits, [4, 50, ranked.most]);
});

test('a question whose best chunks exceed its tokens ranks the pool', async () => {
  const { textsOf, limits } = open([...different(10), 'x']);
  assert.equal((await textsOf({ maxTokens: 10 })).length, 11);
  assert.deepEqual(limits, [4, 50]);
});

test('an answer says whether ranked chunks were gone before their texts were read', async () => {
  for (const missing of [0, 1]) {
    const find = createFindDistinct<string>({
      describe,
      chunks: { describe: async (seqs) => new Map(seqs.slice(missing).map((seq) => [seq, describe(`text ${seq}`)])) },
      async retrieve({ limit }: Question) {
        const hits = [0, 1].map((seq) => ({ seq, score: 1 - seq / 10, words: null, vector: null }));
        return { hits, ranking: 'words', reason: null, limit };
      },
    });
    const { hits, isOutdated } = await find({ ...question, results: 50 });
    assert.deepEqual([hits.length, isOutdated], [2 - missing, missing > 0]);
  }
});
