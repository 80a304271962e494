import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import pg from 'pg';
import { keyOf } from '../../packages/server/src/storage/s3/s3-blob-store.ts';
import { bodyOfStaged } from '../../packages/server/src/storage/s3/s3-bodies.ts';
import { createS3Client } from '../../packages/server/src/storage/s3/s3-client.ts';
import { createS3Objects, type S3Objects } from '../../packages/server/src/storage/s3/s3-objects.ts';
import type { S3RequestSeen } from '../../packages/server/src/storage/s3/testing/s3-server.fixture.ts';
import { killedMove, move } from '../support/move.ts';
import { launcherOf, startStorage } from '../support/object-storage.ts';
import { databaseFor } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const [source, target] = ['s3://store/old', 's3://store/new'];
const isCopied = ({ method, path }: S3RequestSeen) => method === 'PUT' && path.startsWith('/store/new/blobs/');

/** Returns the key and the hash of each object below `blobs`. */
async function hashesOf(objects: S3Objects): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name } of objects.list('blobs')) found[name] = await hashOf(objects, keyOf(name));
  return found;
}

async function hashOf(objects: S3Objects, key: string): Promise<string> {
  const answer = await objects.get(key);
  return createHash('sha256')
    .update(answer === undefined ? '' : await buffer(answer.body))
    .digest('hex');
}

const putObject = async (objects: S3Objects, blobId: string, content: Buffer) => {
  const read = async (position: number, length: number) => content.subarray(position, position + length);
  await objects.put(keyOf(blobId), await bodyOfStaged(read, { start: 0, bytes: content.length }));
};

test('[move] a store moves to another PostgreSQL database and another bucket prefix, names a damaged object, and continues after kills', async (t) => {
  const storage = await startStorage(t);
  const { environment } = storage;
  const client = createS3Client({ ...storage.place, prefix: 'old' });
  t.after(() => client.close());
  const objects = createS3Objects(client);
  const parent = await temporaryFolder(t);
  const settings = { DATABASE_URL: await databaseFor(t), BLOBS: source };
  const launcher = launcherOf(environment);
  const service = await startService(t, { folder: join(parent, 'data'), settings, launcher });
  const { folder, key } = service;
  const hashes = new Map<string, string>();
  for (const [index, bytes] of [17_000_000, ...Array<number>(12).fill(40_000)].entries()) {
    const content = Buffer.from(randomBytes(bytes / 2).toString('hex'));
    const options = { purpose: 'record_file' as const, name: `file-${index}.txt` };
    const { file_id, sha256 } = await service.client.files.upload(new Blob([content]), options);
    hashes.set(file_id, sha256);
  }
  assert.equal(await service.stop(), 0);

  const before = await hashesOf(objects);
  const newDatabase = await databaseFor(t);
  const from = { ...settings, DATA: folder };
  const to = ['--to-postgres', newDatabase, '--to-blobs', target, '--to-folder', join(parent, 'moved')];
  const refusals: ReadonlyArray<readonly [RegExp, string[]]> = [
    [/The content of the store is in s3:\/\/store\/old already/, ['--to-postgres', newDatabase, '--to-blobs', source]],
    [/already holds a store/, ['--to-postgres', settings.DATABASE_URL, '--to-blobs', target]],
  ];
  for (const [reason, args] of refusals) assert.match((await move(from, environment, ...args)).errors, reason);

  // The damaged object has the size of the right one.
  const damaged = (await Array.fromAsync(objects.list('blobs'))).find(({ bytes }) => bytes === 40_000)?.name ?? '';
  const stored = await objects.get(keyOf(damaged));
  assert.ok(stored !== undefined);
  const right = await buffer(stored.body);
  await putObject(objects, damaged, Buffer.alloc(right.length, 'x'));

  const copied = () => storage.seen.filter(isCopied).length;
  for (const at of [3, 2]) await killedMove(storage, { settings: from, environment, args: to, at, counts: isCopied });
  const sent = copied();
  const named = await move(from, environment, ...to);
  assert.equal(named.code, 1, named.errors);
  assert.match(named.errors, /content of 1 files of the source .*file-\d+\.txt.*: content differs/);
  assert.match(named.errors, new RegExp(damaged));
  assert.ok(copied() - sent < hashes.size, `${copied() - sent} objects were sent again`);
  await putObject(objects, damaged, right);
  const moved = await move(from, environment, ...to);
  assert.equal(moved.code, 0, moved.errors);
  const report = JSON.parse(moved.output);
  assert.deepEqual([report.blobs, report.content, report.faults], [hashes.size, target, []]);
  assert.deepEqual(await hashesOf(objects), before);

  const place = { DATABASE_URL: newDatabase, BLOBS: target };
  const node = await startService(t, { folder: report.folder, key, settings: place, launcher });
  for (const [id, hash] of hashes) {
    const content = Buffer.from(await (await node.client.files.content(id)).arrayBuffer());
    assert.equal(createHash('sha256').update(content).digest('hex'), hash);
  }
  assert.equal(await node.stop(), 0);
  const atSource = { key, settings, launcher };
  await assert.rejects(
    startService(t, { ...atSource, folder }),
    /The store in \S+ was moved to PostgreSQL \S+, with the content/,
  );
  // The folders of other nodes do not know of the move, but the database does.
  const other = await temporaryFolder(t);
  const reason =
    /The store in this database was moved to PostgreSQL \S+, with the content in s3:\/\/store\/new\. .*DELETE FROM schema_migration WHERE/;
  await assert.rejects(startService(t, { ...atSource, folder: other }), reason);
  const again = await move({ ...settings, DATA: other }, environment, '--to-folder', join(parent, 'again'));
  assert.match(again.errors, reason);
  await rm(join(folder, 'moved.json'));
  const database = new pg.Client(settings.DATABASE_URL);
  await database.connect();
  await database.query(`DELETE FROM schema_migration WHERE name LIKE '9999-moved-to-%'`);
  await database.end();
  const back = await startService(t, { ...atSource, folder });
  assert.equal((await back.client.files.list({ limit: 100 })).data.length, hashes.size);
  assert.equal(await back.stop(), 0);
});
