import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenShareCounts } from '../share-counts.ts';

/** Checks the behaviour that every adapter of the counts must have. */
export function testShareCounts(name: string, open: OpenShareCounts): void {
  const [a1, a2, b1] = [
    { projectId: 'a', keyId: '1' },
    { projectId: 'a', keyId: '2' },
    { projectId: 'b', keyId: '1' },
  ] as const;

  test(`${name}: counts are kept for all owners, for each project and for each of its keys`, () => {
    const counts = open('rankings', 'running');
    counts.add(a1, 2);
    counts.add(a2, 3);
    counts.add(b1, 5);
    counts.add({ projectId: 'b', keyId: null }, 7);
    assert.deepEqual(
      [a1, a2, b1].map((owner) => counts.of(owner)),
      [
        { all: 17, project: 5, key: 2 },
        { all: 17, project: 5, key: 3 },
        { all: 17, project: 12, key: 5 },
      ],
    );
    counts.add(b1, -5);
    assert.deepEqual(counts.of(b1), { all: 12, project: 7, key: 0 });
  });

  test(`${name}: two queues and two units have separate counts`, () => {
    open('uploads', 'places').add(a1, 1);
    assert.equal(open('uploads', 'size').of(a1).all, 0);
    assert.equal(open('rankings', 'places').of(a1).all, 0);
  });
}
