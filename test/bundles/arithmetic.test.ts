import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { run as add } from '../../bundles/arithmetic/add.ts';
import { run as divide } from '../../bundles/arithmetic/divide.ts';
import { run as multiply } from '../../bundles/arithmetic/multiply.ts';
import { run as subtract } from '../../bundles/arithmetic/subtract.ts';
import { context, Rejected } from './handler-context.ts';

const operations = [
  { name: 'add', run: add, compute: (a: number, b: number) => a + b },
  { name: 'subtract', run: subtract, compute: (a: number, b: number) => a - b },
  { name: 'multiply', run: multiply, compute: (a: number, b: number) => a * b },
  { name: 'divide', run: divide, compute: (a: number, b: number) => a / b },
];

for (const { name, run, compute } of operations) {
  test(`${name} returns the result of IEEE 754, and refuses a result that is not a number`, async () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    await fc.assert(
      fc.asyncProperty(numbers, numbers, async (number_1, number_2) => {
        const expected = compute(number_1, number_2);
        const answer = async () => await run({ number_1, number_2 }, context);
        if (Number.isFinite(expected)) assert.deepEqual(await answer(), { result: expected });
        else await assert.rejects(answer, Rejected);
      }),
    );
  });
}

test('division by zero is bad input, whatever the dividend', () => {
  for (const number_1 of [1, -1, 0]) {
    assert.throws(() => divide({ number_1, number_2: 0 }, context), { message: 'number_2 is 0: division by zero.' });
    assert.throws(() => divide({ number_1, number_2: -0 }, context), Rejected);
  }
});
