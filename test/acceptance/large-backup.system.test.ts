import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { enlargeStore, type LargeStore } from '../support/large-store.ts';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const oneGiB = 2 ** 30;

/** Creates a store, backs it up and restores the backup. The key works in both. */
async function backUpAndRestore(t: TestContext, large: LargeStore) {
  const service = await startService(t);
  assert.equal(await service.stop(), 0);
  await enlargeStore(service.folder, large);
  const place = await temporaryFolder(t);
  const [backup, restored] = [join(place, 'backup'), join(place, 'restored')];
  return {
    backedUp: await runCommand(service, 'backup', backup),
    back: await runCommand(service, 'restore', backup, restored),
    restored,
    key: service.key,
  };
}

test('[backup] a store with a file of 1 GiB is backed up, restored and started', async (t) => {
  const { backedUp, back, restored, key } = await backUpAndRestore(t, { smallFiles: 1, largeBytes: oneGiB });
  assert.deepEqual(JSON.parse(backedUp.output).faults, []);
  assert.match(backedUp.errors, /2 of 2 files, 1\.0 of 1\.0 GiB/);
  assert.deepEqual(JSON.parse(back.output).faults, []);
  const service = await startService(t, { folder: restored, key, settings: { MAX_FILE_BYTES: String(oneGiB) } });
  assert.equal(await service.stop(), 0);
});

test('[backup] a store with 4,000 small files is backed up and restored, with few lines of progress', async (t) => {
  const { backedUp, back } = await backUpAndRestore(t, { smallFiles: 4_000, largeBytes: 0 });
  for (const { output, errors } of [backedUp, back]) {
    const { blobs, faults } = JSON.parse(output);
    assert.deepEqual([blobs, faults], [4_000, []]);
    assert.match(errors, /4,000 of 4,000 files, [\d.]+ of [\d.]+ KiB/);
    // The command writes at most one line in ten seconds, however slow the machine is.
    assert.ok(errors.split('\n').length < 60, errors);
  }
});
