import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFromChild } from './protocol.ts';

test('a message of a child is accepted only with a valid shape', () => {
  const parse = (message: unknown) => parseFromChild(Buffer.from(JSON.stringify(message)));
  const row = { row: 2, code: 'empty_answer', excerpt: '', fields: { question: '', answer: '', metadata: {} } };
  assert.ok(parse({ type: 'rows', rows: [row] }));
  assert.ok(parse({ type: 'stage' }));
  const done = (details: unknown) => ({ type: 'done', cpuSeconds: 1, result: { kind: 'failed', details } });
  assert.ok(parse(done([{ sheets: [] }])));
  for (const wrong of [
    null,
    [],
    'ready',
    { type: 'job' },
    { type: 'done' },
    done('details'),
    done([1]),
    done([{ sheets: ['x'.repeat(70_000)] }]),
    { type: 'rows', rows: {} },
    { type: 'rows', rows: [{ ...row, code: 'no_such_code' }] },
    { type: 'chunks', chunks: [] },
  ]) {
    assert.throws(() => parse(wrong), TypeError);
  }
  assert.throws(() => parseFromChild(Buffer.from('{')));
});
