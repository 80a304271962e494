import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv, type ErrorObject } from 'ajv';
import { describeErrors } from './describe-errors.ts';

const item = {
  anyOf: [
    {
      type: 'object',
      required: ['kind'],
      properties: { kind: { const: 'a' }, size: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    },
    { type: 'object', required: ['kind'], properties: { kind: { const: 'b' }, size: { type: 'string' } } },
  ],
};
const schema = { type: 'array', items: item };
const validate = new Ajv({ allErrors: true, verbose: true, strict: false }).compile(schema);

/** Describes the errors of a body with this many invalid items, and counts how often a member of an error is read. */
function describeMany(items: number) {
  validate(Array.from({ length: items }, (_, index) => ({ kind: 'a', size: index })));
  const errors = validate.errors ?? [];
  let reads = 0;
  const counting = (error: ErrorObject) =>
    new Proxy(error, {
      get: (target, name, receiver) => {
        reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
  const described = describeErrors(errors.map(counting), { schema, showsValue: () => true, limit: 20 });
  return { described, reads, reported: errors.length };
}

test('the cost of describing errors grows with their number, and the answer is bounded', () => {
  const small = describeMany(400);
  const large = describeMany(4_000);
  assert.equal(large.reported, 24_000);
  assert.equal(large.described.length, 20);
  assert.deepEqual(large.described, small.described);
  assert.deepEqual(large.described[0], {
    segments: ['0', 'size'],
    found: 'a number (0)',
    expected: 'a string or null',
  });
  const readsPerError = large.reads / large.reported;
  assert.ok(readsPerError < 30, `${readsPerError} reads for each error`);
  assert.ok(large.reads <= 10.1 * small.reads, `${small.reads} and ${large.reads} reads`);
});

test('a long name and a long value are cut', () => {
  const long = 'n'.repeat(100_000);
  validate([{ kind: long }]);
  const [error] = describeErrors(validate.errors ?? [], { schema, showsValue: () => true, limit: 20 });
  assert.deepEqual(error, { segments: ['0', 'kind'], found: `"${'n'.repeat(60)}…"`, expected: 'one of "a", "b"' });
});
