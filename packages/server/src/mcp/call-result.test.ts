import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecuteResult } from '@quartermaster/contract';
import { Problem } from '../kernel/problem.ts';
import { resultOfProblem, resultOfRun } from './call-result.ts';

const run = (data: unknown, more: Partial<ExecuteResult> = {}): ExecuteResult => ({
  status: 200,
  data,
  run_id: 'run1',
  duration_ms: 1.5,
  ...more,
});

test('pictures and sounds in the output become separate contents, four at most; other data does not', () => {
  const png = 'data:image/png;base64,AAAA';
  const output = { list: [png, { deep: 'data:audio/wav;base64,AAA=' }], svg: 'data:image/svg+xml;base64,AAAA' };
  const { content, structuredContent } = resultOfRun(run(output));
  assert.equal(structuredContent, output);
  assert.deepEqual(content, [
    { type: 'text', text: JSON.stringify(output) },
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'audio', mimeType: 'audio/wav', data: 'AAA=' },
  ]);
  assert.equal(resultOfRun(run({ many: Array(9).fill(png) })).content.length, 5);
  for (const broken of [
    'data:image/png;base64,AAA',
    'data:image/png;base64,A-_A',
    'data:image/png;base64,',
    `x${png}`,
  ]) {
    assert.equal(resultOfRun(run({ broken })).content.length, 1, broken);
  }
});

test('an output that does not match its schema is returned as text only, marked so that clients accept it', () => {
  const violations = [{ path: '/a', found: 'a number (1)', expected: 'a string' }];
  for (const result of [
    resultOfRun(run({ a: 1 }, { output_violations: violations })),
    resultOfRun(run([1])),
    resultOfRun(run(null)),
  ]) {
    assert.deepEqual([result.isError, result.structuredContent], [true, undefined]);
    assert.equal(result.content.length, 2);
  }
  const { content, _meta } = resultOfRun(run({ a: 1 }, { output_violations: violations }));
  assert.deepEqual(content[1], { type: 'text', text: '{"a":1}' });
  assert.deepEqual(_meta, {
    'quartermaster/run': { run_id: 'run1', duration_ms: 1.5 },
    'quartermaster/output-violations': violations,
  });
});

test('a failed result has a message for the model, the code, the details and the excerpt', () => {
  const details = [
    { path: 'body/input_params/a', found: 'nothing', expected: 'this field' },
    { path: 'body/input_params/b', found: '"xyz"', expected: 'a string of at most 2 characters' },
  ];
  const problem = new Problem('REQUEST_VALIDATION_ERROR', 'body/input_params/a is required.', {
    details,
  });
  const { content, isError, structuredContent, _meta } = resultOfProblem(problem, null);
  assert.deepEqual([isError, structuredContent], [true, undefined]);
  assert.deepEqual(content, [
    {
      type: 'text',
      text: 'arguments/a is required.\narguments/b must be a string of at most 2 characters; received "xyz".',
    },
  ]);
  assert.deepEqual(_meta?.['quartermaster/error'], { code: problem.code, message: problem.message, details });

  const upstream = new Problem('PROVIDER_ERROR', 'The third party failed: no.', {
    details: [{ run_id: 'r', upstream_status: 503, excerpt: 'busy' }],
  });
  assert.deepEqual(resultOfProblem(upstream, 'A hint.').content, [
    { type: 'text', text: 'The third party failed: no.\nThe third party answered (status 503): busy\nA hint.' },
  ]);
});
