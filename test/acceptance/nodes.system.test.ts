import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Quartermaster } from '@quartermaster/client';
import pg from 'pg';
import { copyTestDatabase, createTestDatabase, databaseFor } from '../support/postgres.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const upload = (client: Quartermaster, text: string) =>
  client.files.upload(new Blob([text]), { purpose: 'record_file', name: 'tea.txt' });

async function newDatabase(t: TestContext): Promise<{ readonly DATABASE_URL: string }> {
  const url = await databaseFor(t);
  return { DATABASE_URL: url };
}

/** Copies a data folder, like `cp -a`. */
async function copyOf(t: TestContext, folder: string): Promise<string> {
  const copy = await temporaryFolder(t);
  await cp(folder, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

async function nodesOf({ DATABASE_URL: url }: { readonly DATABASE_URL: string }) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query('select id, serves, host, stopped_at from node');
    return rows;
  } finally {
    await client.end();
  }
}

async function refusalOf(start: Promise<StartedService>): Promise<string> {
  const refused = await start.then(
    () => assert.fail('the service started'),
    (error: Error) => error.message,
  );
  const line = refused.split('\n').find((each) => each.includes('service failed')) ?? assert.fail(refused);
  return JSON.parse(line).reason;
}

test('[nodes] a copy of the data folder is refused while the first process runs, and the first process loses no data', async (t) => {
  const settings = await newDatabase(t);
  const first = await startService(t, { settings });
  const { key } = first;
  await upload(first.client, 'green tea');
  const copy = await copyOf(t, first.folder);
  const reason = await refusalOf(startService(t, { folder: copy, settings, key }));
  const [node, ...others] = await nodesOf(settings);
  assert.deepEqual(others, []);
  assert.match(reason, /^Another process serves the files of this database from a copy of the data folder/);
  assert.ok(reason.includes(`node ${node.id} on the host ${hostname()}`), reason);
  assert.match(reason, /last seen \d+ s ago/);
  const { file_id: id } = await upload(first.client, 'green tea');
  assert.equal(await (await first.client.files.content(id)).text(), 'green tea');

  // After the first process has stopped, the copy is the data folder, and the other folder is refused for good.
  assert.equal(await first.stop(), 0);
  const second = await startService(t, { folder: copy, settings, key });
  assert.equal(second.log().includes('start waits for the heartbeat'), false);
  const { file_id: later } = await upload(second.client, 'black tea');
  assert.equal(await second.stop(), 0);
  const old = await refusalOf(startService(t, { folder: first.folder, settings, key }));
  assert.match(old, /belongs to another data folder than/);
  const again = await startService(t, { folder: copy, settings, key });
  assert.equal(await (await again.client.files.content(later)).text(), 'black tea');
  assert.equal(await again.stop(), 0);
});

test('[nodes] a copy of the data folder with a copy of the database is a store of its own', async (t) => {
  const database = await createTestDatabase();
  t.after(database.drop);
  const settings = { DATABASE_URL: database.url };
  const first = await startService(t, { settings });
  const { key, folder } = first;
  await upload(first.client, 'green tea');
  await first.kill();
  const copy = await copyOf(t, folder);
  const copied = await copyTestDatabase(database);
  t.after(copied.drop);
  const services = await Promise.all([
    startService(t, { folder, settings, key }),
    startService(t, { folder: copy, settings: { DATABASE_URL: copied.url }, key }),
  ]);
  for (const [index, { client }] of services.entries()) await upload(client, `tea ${index}`);
  for (const [index, { client }] of services.entries()) {
    const files = (await client.files.list()).data;
    const texts = files.map(async ({ file_id: id }) => (await client.files.content(id)).text());
    assert.deepEqual((await Promise.all(texts)).sort(), ['green tea', `tea ${index}`]);
  }
});

test('[nodes] a copy of the data folder of a SQLite store is a store of its own, also beside the running one', async (t) => {
  const first = await startService(t);
  await upload(first.client, 'green tea');
  await first.kill();
  const copy = await copyOf(t, first.folder);
  const again = await startService(t, { folder: first.folder, key: first.key });
  const second = await startService(t, { folder: copy, key: first.key });
  assert.equal(second.log().includes('start waits for the heartbeat'), false);
  await upload(second.client, 'black tea');
  assert.equal((await again.client.files.list()).data.length, 1);
  assert.equal((await second.client.files.list()).data.length, 2);
});

test('[nodes] a killed process starts again on its folder at once, and keeps the id of the folder', async (t) => {
  const settings = await newDatabase(t);
  const first = await startService(t, { settings });
  const identity = await readFile(join(first.folder, 'store.json'), 'utf8');
  const { file_id: id } = await upload(first.client, 'green tea');
  await first.kill();
  const again = await startService(t, { folder: first.folder, settings, key: first.key });
  assert.equal(again.log().includes('start waits for the heartbeat'), false);
  assert.equal(await (await again.client.files.content(id)).text(), 'green tea');
  assert.equal(await readFile(join(first.folder, 'store.json'), 'utf8'), identity);
  assert.equal(await again.stop(), 0);
  const [node] = await nodesOf(settings);
  assert.notEqual(node.stopped_at, null);
});

test('[nodes] a paused process that was replaced stores nothing when it comes back, and exits with 75', async (t) => {
  const settings = await newDatabase(t);
  const first = await startService(t, { settings });
  const { key } = first;
  await upload(first.client, 'green tea');
  const copy = await copyOf(t, first.folder);
  first.process.kill('SIGSTOP');
  // The bytes arrive in the buffer of the socket, so the process reads them when it continues.
  const outcome = upload(first.client, 'black tea').then(
    () => 'stored',
    () => 'refused',
  );
  const second = await startService(t, { folder: copy, settings, key });
  assert.match(second.log(), /start waits for the heartbeat of another node/);
  const exited = once(first.process, 'close');
  first.process.kill('SIGCONT');
  assert.equal((await exited)[0], 75);
  assert.equal(await outcome, 'refused');
  const [node] = await nodesOf(settings);
  assert.match(
    first.log(),
    new RegExp(`"level":"fatal".*node lost: node ${node.id} on the host ${hostname()} replaced it`),
  );
  const texts = (await second.client.files.list()).data.map(({ bytes }) => bytes);
  assert.deepEqual(texts, ['green tea'.length]);
  assert.match(await refusalOf(startService(t, { folder: first.folder, settings, key })), /another data folder/);
  assert.equal(await second.stop(), 0);
});
