import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';

const refused = { code: 'SERVICE_UNAVAILABLE', message: /could not confirm that no other process serves its store/ };

test('after the time of the fence no change reaches PostgreSQL, not even a commit; reads and rollbacks do', async (t) => {
  const { database, close } = await temporaryDatabases.PostgreSQL();
  t.after(close);
  const { fence, write, read } = database;
  assert.ok(fence);
  let refusals = 0;
  fence.onRefused(() => void refusals++);
  const projects = async () => (await read.selectFrom('project').select('name').execute()).map(({ name }) => name);
  const add = (name: string) => write.insertInto('project').values({ id: name, name, created_at: 1 });

  fence.allowUntil(performance.now() + 60_000);
  await add('before').execute();
  const late = write.transaction().execute(async (transaction) => {
    await transaction.insertInto('project').values({ id: 'late', name: 'late', created_at: 1 }).execute();
    fence.allowUntil(performance.now() - 1);
  });
  await assert.rejects(late, refused);
  await assert.rejects(add('after').execute(), refused);
  await assert.rejects(
    write.transaction().execute(async () => {}),
    refused,
  );
  assert.throws(() => database.assertAvailable(), refused);
  await assert.rejects(database.check(), refused);
  assert.ok(refusals >= 5);
  assert.deepEqual(await projects(), ['before']);

  fence.allowUntil(performance.now() + 60_000);
  await add('again').execute();
  assert.deepEqual((await projects()).sort(), ['again', 'before']);
});

test('a late change waits for the heartbeat that it triggers, and is sent when it succeeds', async (t) => {
  const { database, close } = await temporaryDatabases.PostgreSQL();
  t.after(close);
  const { fence, write, read } = database;
  assert.ok(fence);
  let heartbeats = 0;
  fence.onRefused(async () => {
    heartbeats += 1;
    await new Promise(setImmediate);
    fence.allowUntil(performance.now() + 60_000);
  });
  fence.allowUntil(performance.now() - 1);
  await write.insertInto('project').values({ id: 'busy', name: 'busy', created_at: 1 }).execute();
  assert.deepEqual(
    (await read.selectFrom('project').select('name').execute()).map(({ name }) => name),
    ['busy'],
  );
  assert.equal(heartbeats, 1);
});
