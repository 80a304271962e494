import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fillBudget } from './query-budget.ts';

test('a selection never exceeds its budget, keeps the order, and omits nothing that fits', () => {
  const items = fc.array(fc.record({ numTokens: fc.nat(50) }));
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 20 }), fc.nat(200), (found, maxItems, maxTokens) => {
      const chosen = fillBudget(found, { maxItems, maxTokens });
      const total = chosen.reduce((sum, item) => sum + item.numTokens, 0);
      assert.ok(total <= maxTokens && chosen.length <= maxItems);
      assert.deepEqual(
        chosen,
        found.filter((item) => chosen.includes(item)),
      );
      if (chosen.length < maxItems) {
        assert.ok(found.every((item) => chosen.includes(item) || item.numTokens > maxTokens - total));
      }
    }),
  );
});
