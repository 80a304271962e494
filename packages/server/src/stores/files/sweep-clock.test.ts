import assert from 'node:assert/strict';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStoredFiles } from '../../app/service/wire-blobs.ts';
import { parseConfig } from '../../app/settings/config.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { unlimitedSpace } from '../../platform/disk/disk-space.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { closeAll } from '../../platform/server-process/fatal-error.ts';
import { until } from '../../platform/testing/until.ts';
import { openDiskBlobStore } from '../../storage/disk/disk-blob-store.ts';
import { openDatabase } from '../../storage/open-database.ts';

const hour = 3_600_000;

test('a blob whose upload has not yet committed its row stays when the clock of the database is hours ahead', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-clock-'));
  const logger = createLogger('silent');
  const database = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger });
  const store = await openDiskBlobStore(folder);
  const blobIds: string[] = [];
  for (const content of ['young', 'old']) {
    const staged = store.stage(createNewId()('blob'));
    await staged.append(Buffer.from(content));
    await staged.finish();
    await staged.commit();
    blobIds.push(staged.blobId);
  }
  const [young = '', old = ''] = blobIds;
  const before = new Date(Date.now() - 2 * hour);
  await utimes(join(folder, 'blobs', old.slice(4, 8), old), before, before);
  const resources = new AsyncDisposableStack();
  t.after(async () => {
    await closeAll(resources);
    await store.close();
    await database.close();
    await rm(folder, { recursive: true });
  });
  await openStoredFiles({
    ...{ database, logger, resources, registry: createMetrics(), space: unlimitedSpace },
    admission: createAdmission(),
    ballast: { adjust: async () => undefined, isReleased: () => false, missingBytes: () => 0 },
    config: parseConfig({ QUARTERMASTER_DATA: folder }),
    clock: { now: () => Date.now() + 3 * hour },
    startTasks: (tasks) => resources.adopt(startPeriodicTasks(tasks, logger), (running) => running.close()),
  });
  const held = async () => (await Array.fromAsync(store.quarantine.list())).map(({ blobId }) => blobId);
  await until(async () => (await held()).includes(old));
  await closeAll(resources);
  assert.deepEqual([await held(), await store.size(young)], [[old], 5]);
});
