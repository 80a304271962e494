import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DistinctHit } from './find-distinct.ts';
import { maxAnswerWeight, selectHits } from './select-hits.ts';

const anything = { after: undefined, threshold: 0, maxItems: 100, maxTokens: Number.POSITIVE_INFINITY };

function hitOf(id: string, { numTokens = 1, weight = 1, score = 0.5, equals = [] as string[] } = {}) {
  const describe = (of: string) => ({ id: of, collectionId: 'c', recordId: null, numTokens, weight, text: id });
  return {
    hit: { seq: 1, score, words: null, vector: null },
    described: describe(id),
    equals: equals.map(describe),
  } satisfies DistinctHit<unknown>;
}

const idsOf = (hits: ReadonlyArray<DistinctHit<unknown>>) => hits.map(({ described }) => described.id);

test('a selection never exceeds its budget, keeps the order, and omits nothing that fits', () => {
  const items = fc.array(fc.nat(50)).map((all) => all.map((numTokens, at) => hitOf(`${at}`, { numTokens })));
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 20 }), fc.nat(200), (found, maxItems, maxTokens) => {
      const chosen = selectHits(found, { ...anything, maxItems, maxTokens })?.hits ?? [];
      const total = chosen.reduce((sum, { described }) => sum + described.numTokens, 0);
      assert.ok(total <= maxTokens && chosen.length <= maxItems);
      assert.deepEqual(
        chosen,
        found.filter((item) => chosen.includes(item)),
      );
      if (chosen.length < maxItems) {
        assert.ok(found.every((item) => chosen.includes(item) || item.described.numTokens > maxTokens - total));
      }
    }),
  );
});

test('pages that follow each other hold every result above the threshold once, whatever their size', () => {
  const items = fc
    .array(fc.double({ min: 0, max: 1, noNaN: true }))
    .map((scores) => scores.toSorted((a, b) => b - a).map((score, at) => hitOf(`${at}`, { score })));
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 9 }), (found, maxItems) => {
      const read: string[] = [];
      let after: string | undefined;
      for (let hasMore = true; hasMore; after = read.at(-1)) {
        const page = selectHits(found, { ...anything, threshold: 0.3, maxItems, after });
        read.push(...idsOf(page?.hits ?? []));
        hasMore = page?.hasMore === true;
      }
      const good = found.filter(({ hit }) => hit.score >= 0.3);
      assert.deepEqual(read, idsOf(good));
    }),
  );
});

test('a cursor may name an equal chunk, and a cursor that is not a result selects nothing', () => {
  const found = [hitOf('a', { equals: ['b'] }), hitOf('c')];
  assert.deepEqual(idsOf(selectHits(found, { ...anything, after: 'b' })?.hits ?? []), ['c']);
  assert.equal(selectHits(found, { ...anything, after: 'd' }), undefined);
  assert.equal(selectHits(found, { ...anything, after: 'a', threshold: 0.6 }), undefined);
});

test('the limit question_bytes ends a page of exactly its size, which has at least one result', () => {
  const half = maxAnswerWeight / 2;
  const [first, second] = [hitOf('a', { weight: half }), hitOf('b', { weight: half })];
  const select = (...found: ReadonlyArray<DistinctHit<unknown>>) => {
    const { hits = [], hasMore } = selectHits(found, anything) ?? {};
    return [idsOf(hits), hasMore];
  };
  assert.deepEqual(select(first, second), [['a', 'b'], false]);
  assert.deepEqual(select(first, hitOf('b', { weight: half + 1 })), [['a'], true]);
  assert.deepEqual(select(hitOf('a', { weight: maxAnswerWeight + 1 })), [['a'], false]);
});
