import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inSlices } from './chunk-slices.ts';
import { fillBudget } from './query-budget.ts';

test('a budget is never exceeded, keeps the order, and leaves nothing out that would have fitted', () => {
  const items = fc.array(fc.record({ numTokens: fc.nat(50) }));
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 20 }), fc.nat(200), (given, maxItems, maxTokens) => {
      const taken = fillBudget(given, { maxItems, maxTokens });
      const total = taken.reduce((sum, item) => sum + item.numTokens, 0);
      assert.ok(total <= maxTokens && taken.length <= maxItems);
      assert.deepEqual(
        taken,
        given.filter((item) => taken.includes(item)),
      );
      if (taken.length < maxItems) {
        assert.ok(given.every((item) => taken.includes(item) || item.numTokens > maxTokens - total));
      }
    }),
  );
});

test('slices hold every chunk once, in order, within their bounds', () => {
  const chunks = fc.array(fc.nat(1_500), { maxLength: 600 }).map((lengths) =>
    lengths.map((length, ordinal) => ({
      ordinal,
      words: 'x'.repeat(length),
      content: '',
      question: null,
      answer: null,
      numTokens: 0,
      locator: null,
      metadata: {},
    })),
  );
  fc.assert(
    fc.property(chunks, (given) => {
      const slices = [...inSlices(given)];
      assert.deepEqual(
        slices.flat().map((chunk) => chunk.ordinal),
        given.map((chunk) => chunk.ordinal),
      );
      for (const slice of slices) {
        assert.ok(slice.length > 0 && slice.length <= 1_000);
        const characters = slice.reduce((sum, chunk) => sum + chunk.words.length, 0);
        assert.ok(slice.length === 1 || characters <= 300_000);
      }
    }),
    { numRuns: 20 },
  );
});
