import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMerge, type SegmentSize } from './choose-merge.ts';

/** Adds batches one after another, and merges after each as the service does. */
function addAll(batches: number, chunks: number) {
  const segments: SegmentSize[] = [];
  let merged = 0;
  let most = 0;
  for (let batch = 0; batch < batches; batch++) {
    segments.push({ chunks, removals: 0 });
    most = Math.max(most, segments.length);
    for (let range = chooseMerge(segments); range !== undefined; range = chooseMerge(segments)) {
      const parts = segments.slice(range.from, range.to);
      const sum = parts.reduce((total, part) => total + part.chunks, 0);
      merged += sum;
      segments.splice(range.from, parts.length, { chunks: sum, removals: 0 });
    }
  }
  return { merges: merged / (batches * chunks), most, left: segments.length };
}

test('an import of 100,000 chunks merges each chunk at most once, and leaves few segments', () => {
  const { merges, most, left } = addAll(100, 1000);
  assert.ok(merges <= 1, `${merges} merges of a chunk`);
  assert.ok(most <= 24 && left <= 12, `${most} segments at most, ${left} at the end`);
});

test('chunks that are added one by one are merged a few times each, and never make many segments', () => {
  const { merges, most } = addAll(50_000, 1);
  assert.ok(merges <= 6.5, `${merges} merges of a chunk`);
  assert.ok(most <= 40, `${most} segments`);
});

test('segments are merged as a whole when more than a third of their chunks are removed', () => {
  const segments = [{ chunks: 6000, removals: 0 }, ...Array(3).fill({ chunks: 0, removals: 650 })];
  assert.equal(chooseMerge(segments), undefined);
  segments.push({ chunks: 0, removals: 100 });
  assert.deepEqual(chooseMerge(segments), { from: 0, to: 5 });
});
