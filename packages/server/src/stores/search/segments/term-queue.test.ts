import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TermPostings } from './segment-terms.ts';
import { createTermQueue } from './term-queue.ts';

const encoder = new TextEncoder();

function* readTerms(terms: readonly string[]): Generator<TermPostings, void, undefined> {
  for (const term of terms) {
    yield { term: encoder.encode(term), count: 1, postings: { chunks: Int32Array.of(0), repeats: Uint8Array.of(1) } };
  }
}

test('the queue returns terms in their order, and equal terms in the order of their segments', () => {
  const segments = [['b', 'same'], ['a', 'same', 'z'], ['same'], [], ['a', 'same'], ['b', 'same', 'z'], ['same']];
  const queue = createTermQueue(segments.map(readTerms));
  const found: string[] = [];
  for (let term = queue.term(); term !== undefined; term = queue.term()) {
    found.push(`${new TextDecoder().decode(term)} ${queue.place()}`);
    queue.next();
  }
  const expected = segments.flatMap((terms, place) => terms.map((term) => `${term} ${place}`));
  assert.deepEqual(found, expected.sort());
});
