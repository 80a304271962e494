import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Quartermaster } from '@quartermaster/client';
import pg from 'pg';
import { startCommand } from '../../scripts/start-command.ts';
import { databaseFor } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const anotherFolder = /belongs to another data folder than/;
const anotherDatabase = /belongs to another database.*QUARTERMASTER_DATABASE_URL/;

const upload = (client: Quartermaster) =>
  client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.md' });

/** Returns the bytes of all files, and makes them as old as files that a start removes when no row refers to them. */
async function ageBlobs(folder: string): Promise<string[]> {
  const blobs = join(folder, 'blobs');
  const found = await readdir(blobs, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const file of files) await utimes(file, new Date(0), new Date(0));
  return files.sort();
}

test('[store] a data folder is not used with another database: nothing of it is lost', async (t) => {
  const first = await startService(t);
  const { folder } = first;
  const file = await upload(first.client);
  await first.stop();
  const blobs = await ageBlobs(folder);
  const aside = await temporaryFolder(t);
  const names = (await readdir(folder)).filter((name) => name.startsWith('quartermaster.db'));
  for (const name of names) await rename(join(folder, name), join(aside, name));

  await assert.rejects(startService(t, { folder }), anotherDatabase);
  assert.deepEqual(await ageBlobs(folder), blobs);
  assert.equal((await readFile(join(folder, 'first-key'), 'utf8')).trim(), first.key);

  // A folder without an identity file is recognised by its files.
  const identity = await readFile(join(folder, 'store.json'), 'utf8');
  await rm(join(folder, 'store.json'));
  await assert.rejects(startService(t, { folder }), /holds files that the database does not list/);
  assert.deepEqual(await ageBlobs(folder), blobs);

  // The refused starts have created no database, so that the right one can come back.
  assert.ok((await readdir(folder)).every((name) => !name.startsWith('quartermaster.db')));
  for (const name of names) await rename(join(aside, name), join(folder, name));
  const again = await startService(t, { folder, key: first.key });
  assert.deepEqual((await again.client.files.list()).data, [file]);
  assert.equal(JSON.parse(await readFile(join(folder, 'store.json'), 'utf8')).store_id, JSON.parse(identity).store_id);
  assert.equal(await again.stop(), 0);
});

test('[store] a database in PostgreSQL is used with one data folder, whatever another one holds; the folder may move', async (t) => {
  const settings = await databaseSettings(t);
  const first = await startService(t, { settings });
  await upload(first.client);
  await first.stop();

  const second = await temporaryFolder(t);
  await assert.rejects(startService(t, { folder: second, settings }), anotherFolder);
  await cp(join(first.folder, 'blobs'), join(second, 'blobs'), { recursive: true });
  await assert.rejects(startService(t, { folder: second, settings }), anotherFolder);

  await cp(join(first.folder, 'store.json'), join(second, 'store.json'));
  const moved = await startService(t, { folder: second, settings, key: first.key });
  assert.equal((await moved.client.files.list()).data.length, 1);
  assert.equal(await moved.stop(), 0);

  const other = await startService(t);
  await other.stop();
  await assert.rejects(startService(t, { folder: other.folder, settings }), anotherDatabase);
  // A database that a start was refused with is still empty.
  const empty = await databaseSettings(t);
  await assert.rejects(startService(t, { folder: other.folder, settings: empty }), anotherDatabase);
  const client = new pg.Client(empty.DATABASE_URL);
  await client.connect();
  const { rows } = await client.query(`select 1 from pg_tables where schemaname = current_schema()`);
  await client.end();
  assert.deepEqual(rows, []);
});

test('[store] of two processes that start at the same time on a fresh database one serves files, and the other says why not', async (t) => {
  const settings = await databaseSettings(t);
  const folders = [await temporaryFolder(t), await temporaryFolder(t)];
  const starts = await Promise.allSettled(folders.map((folder) => startService(t, { folder, settings })));
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const refused = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []));
  assert.deepEqual([started.length, refused.length], [1, 1]);
  assert.match(refused[0] ?? '', anotherFolder);
  const [service = assert.fail()] = started;
  assert.deepEqual(await upload(service.client), (await service.client.files.list()).data[0]);
  const loser = folders.find((folder) => folder !== service.folder) ?? assert.fail();
  await assert.rejects(startService(t, { folder: loser, settings }), anotherFolder);
  // The content of the folder does not matter either.
  const own = { ...settings, SERVE: 'plugins' };
  const plugins = await startPlugins(t, loser, own);
  assert.match(plugins, /plugins address/);
});

test('[store] a start that is cut off between the folder and the database is finished by the next one', async (t) => {
  const settings = await databaseSettings(t);
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'store.json'), JSON.stringify({ folder_id: 'of a start that was cut off' }));
  const first = await startService(t, { folder, settings });
  await first.stop();
  const { store_id, folder_id } = JSON.parse(await readFile(join(folder, 'store.json'), 'utf8'));
  assert.equal(folder_id, 'of a start that was cut off');
  await writeFile(join(folder, 'store.json'), JSON.stringify({ folder_id }));
  const again = await startService(t, { folder, settings });
  assert.equal(await again.stop(), 0);
  assert.equal(JSON.parse(await readFile(join(folder, 'store.json'), 'utf8')).store_id, store_id);
});

async function databaseSettings(t: TestContext): Promise<Record<string, string>> {
  const url = await databaseFor(t);
  return { DATABASE_URL: url };
}

/** Starts a process that serves plugins only. Returns its first output. */
async function startPlugins(t: TestContext, folder: string, settings: Record<string, string>): Promise<string> {
  const all = { ...settings, DATA: folder, PLUGINS_PORT: '0' };
  const env = Object.fromEntries(Object.entries(all).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  const { args } = startCommand();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  for await (const text of child.stdout.setEncoding('utf8')) return String(text);
  return '';
}
