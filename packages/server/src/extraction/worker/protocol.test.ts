import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFromChild } from './protocol.ts';

test('a message of a child is accepted only with a valid shape', () => {
  const parse = (message: unknown) => parseFromChild(Buffer.from(JSON.stringify(message)));
  const row = { row: 2, code: 'empty_answer', excerpt: '', fields: { question: '', answer: '', metadata: {} } };
  assert.ok(parse({ type: 'rows', rows: [row] }));
  assert.ok(parse({ type: 'stage' }));
  for (const wrong of [
    null,
    [],
    'ready',
    { type: 'job' },
    { type: 'done' },
    { type: 'rows', rows: {} },
    { type: 'rows', rows: [{ ...row, code: 'no_such_code' }] },
    { type: 'chunks', chunks: [] },
  ]) {
    assert.throws(() => parse(wrong), TypeError);
  }
  assert.throws(() => parseFromChild(Buffer.from('{')));
});
