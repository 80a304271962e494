import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { run } from '../../bundles/random_number_generator/generate-random-integers.ts';
import { context, Rejected } from './handler-context.ts';

async function draw(min: number, max: number, number: number): Promise<number[]> {
  return (await run({ min, max, number }, context)).result;
}

test('gives the requested number of integers, all within the bounds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.maxSafeInteger(),
      fc.maxSafeInteger(),
      fc.integer({ min: 1, max: 50 }),
      async (a, b, number) => {
        const [min, max] = [Math.min(a, b), Math.max(a, b)];
        const numbers = await draw(min, max, number);
        assert.equal(numbers.length, number);
        for (const drawn of numbers) assert.ok(Number.isSafeInteger(drawn) && drawn >= min && drawn <= max);
      },
    ),
  );
});

test('draws every number of a small range about equally often', async () => {
  const counts = new Map<number, number>();
  const total = 60_000;
  for (const drawn of await draw(1, 6, total)) counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
  const expected = total / 6;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  assert.deepEqual([...counts.keys()].sort(), [1, 2, 3, 4, 5, 6]);
  // With five degrees of freedom, a fair die exceeds 50 less than once in 10^8 runs.
  assert.ok(chiSquare < 50, `chi square is ${chiSquare}`);
});

test('returns numbers from both halves of the widest range', async () => {
  const numbers = await draw(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 200);
  assert.ok(numbers.some((drawn) => drawn < 0) && numbers.some((drawn) => drawn > 0));
});

test('a minimum above the maximum is bad input, and the error names both', async () => {
  await assert.rejects(
    async () => await draw(2, 1, 1),
    (error: unknown) => error instanceof Rejected && /min \(2\).*max \(1\)/.test(error.message),
  );
});
