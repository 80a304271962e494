import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { commandEnvironment } from '../support/command-environment.ts';
import { enlargeStore, type LargeStore } from '../support/large-store.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const main = resolve('packages/cli/src/main.ts');
const oneGiB = 2 ** 30;

/** Creates a store, backs it up and restores the backup. The key works in both. */
async function backUpAndRestore(t: TestContext, large: LargeStore) {
  const service = await startService(t);
  assert.equal(await service.stop(), 0);
  await enlargeStore(service.folder, large);
  const place = await temporaryFolder(t);
  const [backup, restored] = [join(place, 'backup'), join(place, 'restored')];
  const command = async (...args: string[]) => {
    const env = { ...commandEnvironment, QUARTERMASTER_DATA: service.folder };
    return await run(process.execPath, [main, ...args], { env, maxBuffer: 2 ** 24 });
  };
  return {
    backedUp: await command('backup', backup),
    back: await command('restore', backup, restored),
    restored,
    key: service.key,
  };
}

test('[backup] a store with a file of 1 GiB is backed up, restored and started', async (t) => {
  const { backedUp, back, restored, key } = await backUpAndRestore(t, { smallFiles: 1, largeBytes: oneGiB });
  assert.deepEqual(JSON.parse(backedUp.stdout).faults, []);
  assert.match(backedUp.stderr, /2 of 2 files, 1\.0 of 1\.0 GiB/);
  assert.deepEqual(JSON.parse(back.stdout).faults, []);
  const service = await startService(t, { folder: restored, key, settings: { MAX_FILE_BYTES: String(oneGiB) } });
  assert.equal(await service.stop(), 0);
});

test('[backup] a store with 4,000 small files is backed up and restored, with few lines of progress', async (t) => {
  const { backedUp, back } = await backUpAndRestore(t, { smallFiles: 4_000, largeBytes: 0 });
  for (const { stdout, stderr } of [backedUp, back]) {
    const { blobs, faults } = JSON.parse(stdout);
    assert.deepEqual([blobs, faults], [4_000, []]);
    assert.match(stderr, /4,000 of 4,000 files, [\d.]+ of [\d.]+ KiB/);
    // The command writes at most one line in ten seconds, however slow the machine is.
    assert.ok(stderr.split('\n').length < 60, stderr);
  }
});
