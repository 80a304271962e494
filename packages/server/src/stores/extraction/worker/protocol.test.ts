import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportLimits } from '../bound-report.ts';
import { placeLimits } from '../cut-text.ts';
import { longestMessage, parseFromChild } from './protocol.ts';

test('a message of a child is accepted only with a valid shape', () => {
  const parse = (message: unknown) => parseFromChild(Buffer.from(JSON.stringify(message)));
  const row = {
    sheet: null,
    row: 2,
    code: 'empty_answer',
    excerpt: '',
    fields: { question: '', answer: '', metadata: {} },
  };
  assert.ok(parse({ type: 'rows', rows: [row] }));
  assert.ok(parse({ type: 'stage' }));
  const report = { format: 'md', warnings: [] as string[] };
  const failed = { kind: 'failed', report, message: 'x'.repeat(longestMessage) };
  const done = (details: unknown, more = {}) => ({
    type: 'done',
    cpuSeconds: 1,
    result: { ...failed, details, ...more },
  });
  assert.ok(parse(done([{ sheets: [] }])));
  for (const wrong of [
    null,
    [],
    'ready',
    { type: 'job' },
    { type: 'done' },
    done('details'),
    done(undefined, { report: null }),
    done(undefined, { report: { ...report, warnings: ['x'.repeat(reportLimits.characters)] } }),
    done(undefined, { message: 'x'.repeat(longestMessage + 1) }),
    { type: 'rows', rows: [{ ...row, sheet: 'x'.repeat(placeLimits.name + 1) }] },
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
