import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileAnswerRules, interpretAnswer } from './declarative/interpret-answer.ts';
import { hasFewParts, maxOutputParts } from './json-bounds.ts';

function interpret(output: string, items: number) {
  const rules = compileAnswerRules({ output });
  const answer = { status: 200, headers: {}, body: Buffer.from(`[${Array(items).fill(1).join(',')}]`) };
  return interpretAnswer(rules, answer, { input: {}, takesCredentials: false, maxOutputBytes: 1024 * 1024 });
}

test('the limit output_parts accepts an output of exactly as many values and fails the run of one with more', () => {
  // Besides the items, the output has three lists (the outer and two inner ones) and a number.
  const items = (maxOutputParts - 4) / 2;
  assert.equal(interpret('[body, body, `1`]', items).kind, 'returned');
  const refused = interpret('[body, body, `1`, `1`]', items);
  // Checks without the output, whose comparison would take minutes.
  assert.equal(refused.kind, 'failed');
  assert.equal(refused.message, `The output must have at most ${maxOutputParts} values and names; received more.`);
});

test('values and names of members are counted, at every depth', () => {
  const value = { a: [1, { b: null }], c: 'text' };
  assert.equal(hasFewParts(value, 9), true);
  assert.equal(hasFewParts(value, 8), false);
  assert.equal(hasFewParts(1, 1), true);
});

test('only the first parts of a value with too many parts are visited', () => {
  let visited = 0;
  const member = {
    enumerable: true,
    get: () => {
      visited += 1;
      return 1;
    },
  };
  const value = Object.defineProperties(
    {},
    Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, member])),
  );
  assert.equal(hasFewParts(value, 100), false);
  assert.equal(visited, 50);
});
