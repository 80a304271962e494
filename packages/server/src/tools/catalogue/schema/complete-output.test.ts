import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeOutput } from './complete-output.ts';

const schema = {
  type: 'object',
  required: ['items', 'count', 'name', 'others'],
  properties: {
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: { price: { type: ['number', 'null'] }, tags: { $ref: '#/$defs/tags' }, note: { type: 'string' } },
      },
    },
    count: { type: 'integer' },
    name: { type: 'string' },
    others: { type: ['array', 'null'] },
    either: { type: ['number', 'string'] },
  },
  $defs: { tags: { type: 'array', items: { type: 'string' } } },
};

test('an absent list becomes empty and an absent number null, at every depth', () => {
  const empty = { price: '', tags: null, note: '' };
  const full = { price: 1, tags: ['a'], note: 'b' };
  assert.deepEqual(completeOutput({ items: [empty, full], either: '' }, schema), {
    items: [{ price: null, tags: [], note: '' }, full],
    either: '',
    count: null,
  });
  assert.deepEqual(completeOutput({ items: null, count: null, name: null, others: null }, schema), {
    items: [],
    ...{ count: null, name: null, others: null },
  });
  assert.deepEqual(completeOutput({ items: '' }, schema), { items: [], count: null });
});

test('an output that fits stays the same object, and one without a form stays as it is', () => {
  const fitting = { items: [{ price: 1, tags: [], note: '' }], count: 2, name: '', others: null };
  assert.equal(completeOutput(fitting, schema), fitting);
  for (const value of [null, 'text', 5, [], ['']]) assert.equal(completeOutput(value, schema), value);
  assert.deepEqual(completeOutput({ constructor: null }, { type: 'object', properties: {} }), { constructor: null });
});

test('all parts of allOf complete an output, and alternatives do not', () => {
  const part = (name: string) => ({ properties: { [name]: { type: 'array' } } });
  const output = { a: null, b: null, c: null };
  const completed = completeOutput(output, { allOf: [part('a'), part('b')], anyOf: [part('c')] });
  assert.deepEqual(completed, { a: [], b: [], c: null });
});
