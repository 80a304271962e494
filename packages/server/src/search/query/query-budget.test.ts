import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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
