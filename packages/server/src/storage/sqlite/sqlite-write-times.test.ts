import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { openDatabase } from '../open-database.ts';

test('each transaction and each single statement of the writing connection is measured once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-write-times-'));
  t.after(() => rm(folder, { recursive: true }));
  const metrics = createMetrics();
  const database = await openDatabase({
    admission: createAdmission(),
    url: null,
    dataFolder: folder,
    logger: createLogger('silent'),
    metrics,
  });
  t.after(() => database.close());
  const count = async () => {
    const [, found] = /^quartermaster_database_write_seconds_count (\d+)$/m.exec(await metrics.metrics()) ?? [];
    return Number(found);
  };
  const add = (id: string, db = database.write) =>
    db.insertInto('project').values({ id, name: id, created_at: 0 }).execute();
  const before = await count();
  await add('one');
  assert.equal(await count(), before + 1);
  await database.write.transaction().execute(async (transaction) => {
    await add('two', transaction);
    await add('three', transaction);
  });
  assert.equal(await count(), before + 2);
  const undone = database.write.transaction().execute(async (transaction) => {
    await add('four', transaction);
    throw new Error('undo');
  });
  await assert.rejects(undone, /undo/);
  assert.equal(await count(), before + 3);
  await database.read.selectFrom('project').select('id').execute();
  assert.equal(await count(), before + 3);
});
