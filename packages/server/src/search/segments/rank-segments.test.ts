import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSegment } from './build-segment.ts';
import { createCollectionIndexes } from './collection-index.ts';
import { rankSegments } from './rank-segments.ts';

test('a ranking stops before the window in which its question ends', () => {
  const chunks = Array.from({ length: 20_000 }, (_, at) => ({ seq: at + 1, terms: new Map([['red', 1]]), length: 1 }));
  const { header, pages } = buildSegment(chunks);
  const open = createCollectionIndexes(
    { list: () => [1], readHeader: () => header, readPage: (_, page) => pages[page] ?? assert.fail() },
    { headerBytes: 1e7, pageBytes: 1e7, listBytes: 1e7 },
  );
  const { segments } = open('c').find(['red']);
  let windows = 0;
  const rank = (last: number) =>
    rankSegments(segments, {
      ...{ weights: [1e9], base: 0.3, perWord: 0.1, count: 3 },
      checkpoint() {
        if (++windows === last) throw new Error('ended');
      },
    });
  assert.deepEqual(
    rank(Number.POSITIVE_INFINITY).map(({ seq }) => seq),
    [1, 2, 3],
  );
  assert.equal(windows, 5, 'windows of 4,096 chunks');
  windows = 0;
  assert.throws(() => rank(3), /ended/);
  assert.equal(windows, 3);
});
