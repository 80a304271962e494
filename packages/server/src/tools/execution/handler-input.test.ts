import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHandlerInput } from './run-plugin.ts';

const big = 1234567890123456789n;
const schema = () => ({
  type: 'object',
  properties: {
    sum: { type: 'number' },
    maybe: { type: ['number', 'null'] },
    id: { type: 'integer' },
    points: { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } } } },
  },
});

test('a handler receives a large integer as a number where the schema says number, and as text elsewhere', () => {
  const input = {
    sum: 2n ** 53n,
    maybe: big,
    id: big,
    free: { id: -big },
    points: [{ x: big, y: big }],
    text: 'a',
    none: null,
  };
  assert.deepEqual(toHandlerInput<unknown>(input, schema), {
    sum: 2 ** 53,
    maybe: Number(big),
    id: '1234567890123456789',
    free: { id: '-1234567890123456789' },
    points: [{ x: Number(big), y: '1234567890123456789' }],
    text: 'a',
    none: null,
  });
});

test('an input without large integers is passed on as it is, and names of Object.prototype have no schema', () => {
  const input = { sum: 1, list: [{ id: 2 }] };
  assert.equal(toHandlerInput(input, schema), input);
  assert.deepEqual(toHandlerInput<unknown>({ constructor: big }, schema), { constructor: '1234567890123456789' });
});
