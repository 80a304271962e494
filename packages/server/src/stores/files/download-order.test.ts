import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createDownloadOrder } from './download-order.ts';

async function* pieces(count: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) yield Buffer.from([n]);
}

test('of many downloads, few pieces pass in one iteration of the event loop, and projects take turns', async () => {
  const downloadOrder = createDownloadOrder(createAdmission());
  const passed: string[] = [];
  const download = async (projectId: string, count: number) => {
    let next = 0;
    for await (const [byte] of downloadOrder(projectId, pieces(count))) {
      assert.equal(byte, next++, 'in order');
      passed.push(projectId);
    }
    assert.equal(next, count, 'complete');
  };
  const many = Array.from({ length: 50 }, () => download('busy', 4));
  await nextIteration();
  const one = download('other', 4);
  const perIteration: number[] = [];
  for (let before = -1; passed.length < 204 && perIteration.length < 1_000; ) {
    before = passed.length;
    await nextIteration();
    perIteration.push(passed.length - before);
  }
  await Promise.all([...many, one]);
  assert.ok(Math.max(...perIteration) <= 4, `pieces in one iteration: ${Math.max(...perIteration)}`);
  assert.ok(passed.lastIndexOf('other') < 30, `the other project ended after ${passed.lastIndexOf('other')} pieces`);
});

test('a download that stops early ends its source and does not hold up others', async () => {
  const downloadOrder = createDownloadOrder(createAdmission());
  let isEnded = false;
  async function* source() {
    try {
      yield* pieces(10);
    } finally {
      isEnded = true;
    }
  }
  for await (const piece of downloadOrder('one', source())) if (piece[0] === 1) break;
  assert.ok(isEnded);
  let count = 0;
  for await (const _ of downloadOrder('two', pieces(3))) count += 1;
  assert.equal(count, 3);
});
