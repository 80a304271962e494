import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../platform/log/logger.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { ballastBytes, openBallast } from './ballast.ts';

const bytes = 2 ** 21;
const plenty = 2 ** 40;

/** Creates a folder whose ballast file was truncated by a crash. */
async function openCut(t: TestContext, freeNow: number) {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'ballast'), 'cut short');
  const options = { folder, bytes, remaining: 0, delayMs: 0, logger: createLogger('silent') };
  return { folder, ballast: await openBallast(options, freeNow) };
}

test('a ballast file that a crash truncated is deleted on a full disk, at the start and later', async (t) => {
  const atStart = await openCut(t, 0);
  assert.deepEqual([await readdir(atStart.folder), atStart.ballast.isReleased()], [[], true]);
  const later = await openCut(t, plenty);
  await later.ballast.adjust(0);
  assert.deepEqual([await readdir(later.folder), later.ballast.isReleased()], [[], true]);
});

test('a ballast file that a crash truncated is completed when the disk has enough space', async (t) => {
  const { folder, ballast } = await openCut(t, plenty);
  await ballast.adjust(plenty);
  assert.equal((await stat(join(folder, 'ballast'))).size, bytes);
});

test('on a small disk the ballast takes at most a quarter of it, and a start with that much free space keeps it', async (t) => {
  assert.deepEqual([ballastBytes(2 ** 40), ballastBytes(100 * 2 ** 20)], [64 * 2 ** 20, 25 * 2 ** 20]);
  const { ballast } = await openCut(t, (bytes * 3) / 4);
  assert.equal(ballast.isReleased(), false);
  await ballast.adjust(bytes / 8 - 1);
  assert.deepEqual([ballast.isReleased(), ballast.missingBytes(bytes / 2)], [true, bytes / 2]);
});
