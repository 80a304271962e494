import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { divideTokens } from './embedded-texts.ts';

test('the tokens of a request are divided by the lengths of its texts, and none is lost', () => {
  assert.deepEqual(divideTokens(10, [30, 10, 10]), [6, 2, 2]);
  assert.deepEqual(divideTokens(5, []), []);
  const lengths = fc.array(fc.integer({ min: 1, max: 8000 }), { minLength: 1, maxLength: 128 });
  fc.assert(
    fc.property(fc.nat(1_000_000), lengths, (tokens, texts) => {
      const shares = divideTokens(tokens, texts);
      const total = texts.reduce((sum, length) => sum + length, 0);
      assert.equal(
        shares.reduce((sum, share) => sum + share, 0),
        tokens,
      );
      for (const [place, share] of shares.entries()) {
        assert.ok(Math.abs(share - (tokens * (texts[place] ?? 0)) / total) <= 1);
      }
    }),
  );
});
