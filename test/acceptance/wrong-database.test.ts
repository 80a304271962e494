import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Client } from '@quartermaster/client';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const anotherDatabase = /belongs to another database, one with the project proj\w+.*QUARTERMASTER_DATABASE_URL/;

const upload = (client: Client) =>
  client.files.upload({ purpose: 'record_file', name: 'tea.md', content: new Blob(['tea']) });

/** The bytes of all files; made to look as old as what a start removes when no row names it. */
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

  // A folder of an earlier version has no mark; it is told by its bytes.
  await rm(join(folder, 'database-mark'));
  await assert.rejects(startService(t, { folder }), /holds bytes of files, and the database names none of them/);
  assert.deepEqual(await ageBlobs(folder), blobs);

  const made = (await readdir(folder)).filter((name) => name.startsWith('quartermaster.db'));
  for (const name of made) await rm(join(folder, name));
  for (const name of names) await rename(join(aside, name), join(folder, name));
  const again = await startService(t, { folder, key: first.key });
  assert.deepEqual((await again.client.files.list()).data, [file]);
  assert.match(await readFile(join(folder, 'database-mark'), 'utf8'), /^proj\w{20}\n$/);
  assert.equal(await again.stop(), 0);
});

test('[store] a database is not used with another data folder, unless it is a copy', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const settings = { DATABASE_URL: database.url };
  const first = await startService(t, { settings });
  await upload(first.client);
  await first.stop();

  const empty = await temporaryFolder(t);
  await assert.rejects(
    startService(t, { folder: empty, settings }),
    /holds the bytes of none of them.*write proj\w+ into/,
  );
  await rename(join(first.folder, 'blobs'), join(empty, 'moved'));
  await rm(join(empty, 'blobs'), { recursive: true });
  await rename(join(empty, 'moved'), join(empty, 'blobs'));
  await mkdir(join(first.folder, 'blobs'));
  const restored = await startService(t, { folder: empty, settings, key: first.key });
  assert.equal((await restored.client.files.list()).data.length, 1);
  assert.equal(await restored.stop(), 0);

  const other = await startService(t);
  await other.stop();
  await assert.rejects(startService(t, { folder: other.folder, settings }), anotherDatabase);
});
