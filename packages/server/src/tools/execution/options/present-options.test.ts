import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxOptions } from '@quartermaster/contract';
import { presentOptions, readListedOptions } from './present-options.ts';

test('values are searched by label and value, and an answer with too many of them says that there are more', () => {
  const options = Array.from({ length: maxOptions + 1 }, (_, at) => ({ label: `Channel ${at}`, value: `c${at}` }));
  const all = presentOptions('one', { options, placeholder: '' });
  assert.deepEqual([all.options.length, all.has_more, all.hint], [maxOptions, true, null]);
  const found = presentOptions('many', { options, placeholder: 'Choose' }, ' CHANNEL 499 ');
  const some = { object: 'PropertyOptions', kind: 'many', options: [options[499]], has_more: false, schema: null };
  assert.deepEqual(found, { ...some, hint: 'Choose' });
  assert.deepEqual(presentOptions('one', { options, placeholder: '' }, 'c500').options, [options[500]]);
});

test('the values of a schema need no call, and a name of Object.prototype is no input', () => {
  const schema = { properties: { level: { enum: ['L', 2] }, text: { type: 'string' } } };
  assert.deepEqual(readListedOptions(schema, 'level')?.options, [
    { label: 'L', value: 'L' },
    { label: '2', value: 2 },
  ]);
  for (const name of ['text', 'none', 'constructor']) assert.equal(readListedOptions(schema, name), undefined);
});

test('members that the third party determines are a schema', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const answer = presentOptions('properties', { schema });
  assert.deepEqual([answer.kind, answer.options, answer.schema], ['properties', [], schema]);
});
