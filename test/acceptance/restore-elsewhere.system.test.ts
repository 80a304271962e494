import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { settledRecord } from '../support/client.ts';
import { send } from '../support/http.ts';
import { startPostgres, type TestServer } from '../support/postgres.ts';
import { succeed } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

test('[restore] a backup is restored on a PostgreSQL server that has none of the old roles', async (t) => {
  const old = await openOwned(t, 'old_owner');
  // No dump contains the privileges of a second role either.
  await old.admin.query('create role old_reader');
  await old.admin.query('alter default privileges for role old_owner grant select on tables to old_reader');
  const service = await startService(t, { settings: { DATABASE_URL: old.url } });
  const name = 'tea.txt';
  const content = 'Green tea is steeped at seventy degrees.';
  const file = await service.client.files.upload(new Blob([content]), { purpose: 'record_file', name });
  const { collection_id: collection } = await service.client.collections.create({ name: 'tea' });
  const { record_id: record } = await service.client.records.create(collection, {
    type: 'file',
    file_id: file.file_id,
  });
  assert.equal((await settledRecord(service.client, collection, record)).status, 'ready');
  const into = await temporaryFolder(t);
  await command({ DATA: service.folder, DATABASE_URL: old.url }, 'backup', join(into, 'backup'));
  await service.stop();
  await old.stop();

  const next = await openOwned(t, 'new_owner');
  const folder = join(into, 'restored');
  await command({ DATA: folder, DATABASE_URL: next.url }, 'restore', join(into, 'backup'), folder);
  const { rows } = await next.admin.query(
    `select distinct tableowner as owner from pg_tables where schemaname = 'public'`,
  );
  assert.deepEqual(rows, [{ owner: 'new_owner' }]);

  // The database holds hashes of the keys; no backup contains their text.
  await writeFile(join(folder, 'first-key'), service.key);
  const again = await startService(t, { folder, settings: { DATABASE_URL: next.url } });
  const [best] = await again.client.search(collection, { query_text: 'How hot is green tea?', top_k: 1 });
  assert.equal(best?.content, content);
  const bytes = await send(`${again.filesUrl}/v1/files/${file.file_id}/content`, { key: again.key });
  assert.equal(bytes.text, content);
  assert.equal(await again.stop(), 0);
});

/** Starts a separate server with a database that belongs to a role of this name. */
async function openOwned(t: TestContext, owner: string) {
  const server: TestServer = await startPostgres();
  const admin = await connect(server.url);
  await admin.query(`create role ${owner} login`);
  await admin.query(`create database store owner ${owner}`);
  await admin.end();
  const url = new URL(server.url);
  url.pathname = 'store';
  const inside = await connect(url.href);
  url.username = owner;
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= inside.end().then(server.stop);
    return ended;
  };
  t.after(stop);
  return { url: url.href, admin: inside, stop };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function command(settings: Readonly<Record<string, string>>, ...args: string[]): Promise<void> {
  assert.deepEqual(JSON.parse(await succeed({ settings }, ...args)).faults, []);
}
