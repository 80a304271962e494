import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileAnswerRules, interpretAnswer, leftToThread } from './declarative/interpret-answer.ts';
import { hasFewParts, maxOutputParts } from './json-bounds.ts';
import { outputPartLimits } from './output-parts/output-part.ts';

const megabyte = 1024 * 1024;

function interpret(output: string, items: number, context: { isInThread?: boolean; maxOutputBytes?: number } = {}) {
  const rules = compileAnswerRules({ output });
  const answer = { status: 200, headers: {}, body: Buffer.from(`[${Array(items).fill(1).join(',')}]`) };
  return interpretAnswer(rules, answer, { input: {}, maxOutputBytes: megabyte, ...context });
}

test('the limit output_parts accepts an output of exactly as many values; one with more is parsed in the thread and stored whole', () => {
  // Besides the items, the output has three lists (the outer and two inner ones) and a number.
  const items = (maxOutputParts - 4) / 2;
  assert.equal(interpret('[body, body, `1`]', items).kind, 'returned');
  const refused = interpret('[body, body, `1`, `1`]', items);
  // Compares without the output, whose comparison would take minutes.
  assert.ok(refused === leftToThread);
  const split = interpret('[body, body, `1`, `1`]', items, { isInThread: true });
  assert.ok(split.kind === 'returned' && split.output === null);
  assert.deepEqual(
    split.parts?.map(({ path }) => path),
    [''],
  );
});

test('an output above the limit inline_output_bytes is parsed in the thread, which refuses one above the limit output_bytes', () => {
  const limits = { maxOutputBytes: 2 * outputPartLimits.inlineBytes };
  const items = 1;
  const text = (bytes: number) => `'${'x'.repeat(bytes - 2)}'`;
  const { inlineBytes } = outputPartLimits;
  assert.equal(interpret(text(inlineBytes), items, limits).kind, 'returned');
  assert.ok(interpret(text(inlineBytes + 1), items, limits) === leftToThread);
  const large = interpret(text(2 * inlineBytes), items, { ...limits, isInThread: true });
  assert.ok(large.kind === 'returned' && large.output === null && large.parts?.length === 1);
  const over = interpret(text(2 * inlineBytes + 1), items, { ...limits, isInThread: true });
  assert.deepEqual(over, {
    kind: 'failed',
    message: `The output must be at most ${2 * inlineBytes} bytes; received more.`,
    isUnusable: true,
  });
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
