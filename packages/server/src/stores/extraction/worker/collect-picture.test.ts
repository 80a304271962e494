import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPictureCollector } from './protocol.ts';

const message = { type: 'picture', width: 3, height: 2, dpi: 300 } as const;

test('a picture is complete when all its bytes have arrived', () => {
  const collector = createPictureCollector(6);
  collector.begin(message);
  assert.equal(collector.add(Buffer.from([1, 2, 3, 4])), undefined);
  const picture = collector.add(Buffer.from([5, 6]));
  assert.deepEqual(picture, { width: 3, height: 2, dpi: 300, gray: Buffer.from([1, 2, 3, 4, 5, 6]) });
});

test('a reader cannot announce a larger picture, two pictures, or send other bytes', () => {
  const begin = (more: object) => createPictureCollector(6).begin({ ...message, ...more });
  for (const more of [{ width: 4 }, { width: 0 }, { height: -1 }, { width: 1.5 }, { dpi: 1e9 }, { width: '3' }])
    assert.throws(() => begin(more), TypeError, JSON.stringify(more));
  const long = { ...message, width: 32_768, height: 1 };
  assert.throws(() => createPictureCollector(1_000_000).begin(long), TypeError);
  createPictureCollector(1_000_000).begin({ ...long, width: 32_767 });
  const collector = createPictureCollector(6);
  assert.throws(() => collector.add(Buffer.from([1])), TypeError);
  collector.begin(message);
  assert.throws(() => collector.begin(message), TypeError);
  assert.throws(() => collector.add(Buffer.alloc(7)), TypeError);
  assert.throws(() => createPictureCollector(0).begin({ ...message, width: 1, height: 1 }), TypeError);
});
