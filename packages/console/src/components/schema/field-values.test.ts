import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesOf, fromLocalTime, orderFields, toLocalTime, withOptions } from './field-values.ts';

test('a form shows required fields first, and puts only the optional fields of a long form apart', () => {
  const formOf = (count: number, required: readonly string[]) =>
    orderFields({ properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, {}])), required });
  assert.deepEqual(formOf(6, ['f5']), { first: ['f5', 'f0', 'f1', 'f2', 'f3', 'f4'], more: [] });
  assert.deepEqual(formOf(8, ['f7']), { first: ['f7', 'f0', 'f1', 'f2', 'f3'], more: ['f4', 'f5', 'f6'] });
  const long = formOf(9, ['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7']);
  assert.deepEqual(long, { first: ['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7'], more: ['f0', 'f8'] });
});

test('a schema that lists its values offers them with their titles and keeps the type of each', () => {
  const mixed = choicesOf({ enum: ['a', 1, null, { b: 2 }] }, {});
  assert.deepEqual(mixed, [
    { value: 'a', label: 'a' },
    { value: 1, label: '1' },
    { value: null, label: 'null' },
    { value: { b: 2 }, label: '{"b":2}' },
  ]);
  const titled = choicesOf({ oneOf: [{ const: 7, title: 'Open' }, { const: 'x' }] }, {});
  assert.deepEqual(titled, [
    { value: 7, label: 'Open' },
    { value: 'x', label: 'x' },
  ]);
  assert.equal(choicesOf({ oneOf: [{ const: 7 }, { type: 'string' }] }, {}), undefined);
});

test('a local time of a form is sent as RFC 3339 and shown again as it was entered', () => {
  const sent = fromLocalTime('2026-11-29T10:30') ?? '';
  assert.match(sent, /^2026-11-(?:28|29|30)T\d\d:\d\d:00Z$/);
  assert.equal(toLocalTime(sent), '2026-11-29T10:30:00');
  assert.equal(fromLocalTime(''), undefined);
  assert.equal(toLocalTime('tomorrow'), '');
});

test('the values of the third party become choices, and the present value stays one of them', () => {
  const options = [{ value: 'C1', label: 'general' }];
  const one = withOptions({ description: 'A channel.' }, { kind: 'one', options, schema: null, value: 'C9' });
  const oneOf = [
    { const: 'C1', title: 'general' },
    { const: 'C9', title: 'C9' },
  ];
  assert.deepEqual(one, { description: 'A channel.', oneOf });
  const many = withOptions({ type: 'array', items: {} }, { kind: 'many', options, schema: null, value: ['C9'] });
  assert.deepEqual(many, { type: 'array', items: { oneOf } });
  const none = { options: [], schema: null, value: undefined };
  assert.deepEqual(withOptions({}, { kind: 'one', ...none }), { type: 'string' });
  assert.deepEqual(withOptions({}, { kind: 'many', ...none }), { type: 'array', items: { type: 'string' } });
  const schema = { type: 'object', properties: { row: {} } };
  assert.deepEqual(withOptions({ title: 'Row' }, { kind: 'properties', ...none, schema }), { ...schema, title: 'Row' });
});
