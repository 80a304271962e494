import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSplitter } from './check-splitter.ts';

test('a whole splitter is accepted', () => {
  assert.equal(checkSplitter({ type: 'token', chunk_size: 400, chunk_overlap: 0 }), null);
  assert.equal(checkSplitter({ type: 'token', chunk_size: 400, chunk_overlap: 200 }), null);
  assert.equal(checkSplitter({ type: 'separator', separators: ['\n\n', '. '] }), null);
});

test('the token splitter needs both sizes', () => {
  assert.match(
    checkSplitter({ type: 'token', chunk_overlap: 0 }) ?? '',
    /^text_splitter\/chunk_size: missing; expected/,
  );
  assert.match(checkSplitter({ type: 'token', chunk_size: 100 }) ?? '', /^text_splitter\/chunk_overlap: missing/);
});

test('the separator splitter needs separators, none a part of another', () => {
  assert.match(checkSplitter({ type: 'separator' }) ?? '', /^text_splitter\/separators: missing/);
  assert.match(
    checkSplitter({ type: 'separator', separators: ['\n\n', '\n'] }) ?? '',
    /separators\/1: "\\n" is part of/,
  );
  assert.match(checkSplitter({ type: 'separator', separators: [';', ';'] }) ?? '', /is part of/);
});

test('chunks overlap by at most half, also of the default size', () => {
  assert.match(
    checkSplitter({ type: 'token', chunk_size: 100, chunk_overlap: 51 }) ?? '',
    /at most half of chunk_size, which is 100/,
  );
  assert.equal(checkSplitter({ type: 'separator', separators: ['\n'], chunk_overlap: 200 }), null);
  assert.match(
    checkSplitter({ type: 'separator', separators: ['\n'], chunk_size: 50, chunk_overlap: 26 }) ?? '',
    /half/,
  );
});
