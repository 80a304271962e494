import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../platform/metrics.ts';
import { createUploadSpace } from './upload-space.ts';

const mebibyte = 2 ** 20;

/** Opens the space of a disk whose free bytes the test sets. */
function openSpace(leastFree: number) {
  const disk = { free: 100 * mebibyte, isReleased: false, isPaused: false };
  const log: string[] = [];
  const write = (fields: object, message: string) => void log.push(`${message} ${JSON.stringify(fields)}`);
  const metrics = createMetrics();
  const space = createUploadSpace({
    leastFreeBytes: leastFree,
    freeBytes: async () => disk.free,
    reserve: {
      isReleased: () => disk.isReleased,
      missingBytes: (free) => (disk.isReleased ? Math.max(0, 80 * mebibyte - free) : 0),
    },
    isBackgroundPaused: () => disk.isPaused,
    checkRoom: async () => {
      if (disk.free < leastFree) throw new Error('nearly full');
    },
    refusal: () => new Error('nearly full'),
    logger: { info: write, warn: write } as never, // both forms of a logger are not needed
    metrics,
  });
  const conditions = async () => (await space.conditions()).map(({ condition, count }) => `${condition} ${count}`);
  const gauge = async () => /^quartermaster_uploads_paused (\d)$/m.exec(await metrics.metrics())?.[1];
  return { disk, log, space, conditions, gauge };
}

test('a nearly full disk is a condition with the MiB that must become free, and is logged once when it begins and ends', async () => {
  const { disk, log, space, conditions, gauge } = openSpace(50 * mebibyte);
  await space.check();
  assert.deepEqual([await conditions(), await gauge(), log], [[], '0', []]);
  disk.free = 47.5 * mebibyte;
  for (let i = 0; i < 5; i++) await assert.rejects(space.check(), /nearly full/);
  assert.deepEqual([await conditions(), await gauge(), log.length], [['uploads_refused 3'], '1', 1]);
  assert.match(log[0] ?? '', /^uploads refused: .*"missing_bytes":2621440/);
  disk.isPaused = true;
  assert.deepEqual(await conditions(), ['uploads_refused 3', 'background_paused 3']);
  disk.free = 60 * mebibyte;
  disk.isPaused = false;
  await space.check();
  await space.check();
  assert.deepEqual([await conditions(), await gauge(), log.length], [[], '0', 2]);
});

test('without a minimum, uploads are refused while the reserve is in use, and the condition tells how much is missing', async () => {
  const { disk, space, conditions } = openSpace(0);
  disk.free = 0;
  await space.check();
  disk.free = 73 * mebibyte;
  disk.isReleased = true;
  await assert.rejects(space.check(), /nearly full/);
  assert.deepEqual(await conditions(), ['uploads_refused 7']);
});
