import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSplitter } from './check-splitter.ts';

function describe(splitter: Parameters<typeof checkSplitter>[0]): string {
  const { field, found, expected } = checkSplitter(splitter) ?? { field: '', found: '', expected: '' };
  return `${field}: found ${found}; expected ${expected}`;
}

test('a complete splitter is accepted', () => {
  assert.equal(checkSplitter({ type: 'token', chunk_size: 400, chunk_overlap: 0 }), null);
  assert.equal(checkSplitter({ type: 'token', chunk_size: 400, chunk_overlap: 200 }), null);
  assert.equal(checkSplitter({ type: 'separator', separators: ['\n\n', '. '] }), null);
});

test('no separator is part of another', () => {
  assert.match(
    describe({ type: 'separator', separators: ['\n\n', '\n'] }),
    /separators\/1: found "\\n", which is part of/,
  );
  assert.match(describe({ type: 'separator', separators: [';', ';'] }), /is part of/);
});

test('chunks overlap by at most half, also with the default size', () => {
  assert.match(describe({ type: 'token', chunk_size: 100, chunk_overlap: 51 }), /at most 50 \(half of chunk_size\)/);
  assert.equal(checkSplitter({ type: 'separator', separators: ['\n'], chunk_overlap: 200 }), null);
  assert.match(describe({ type: 'separator', separators: ['\n'], chunk_size: 50, chunk_overlap: 26 }), /half/);
});
