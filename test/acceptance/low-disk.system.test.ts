import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ServerError } from '@quartermaster/client';
import type { RecordItem } from '@quartermaster/contract';
import { createShim } from '../../proof/shim/build-shim.ts';
import { settledRecord } from '../support/client.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

interface Upload {
  readonly content: Blob;
  readonly purpose: 'record_file';
  readonly name: string;
}

const run = promisify(execFile);
const moreThanAnyDisk = String(1_000_000_000);
const mebibyte = 2 ** 20;

test('[disk] while little disk space is free, uploads and runs are refused with 507 and records wait, and all continue once there is space', async (t) => {
  const folder = await temporaryFolder(t);
  const settings = { MIN_FREE_DISK_MB: moreThanAnyDisk };
  const crowded = await startService(t, { folder, settings });
  const upload = { purpose: 'record_file', name: 'tea.txt', content: new Blob(['Green tea.']) } as const;
  await assert.rejects(crowded.client.files.upload(upload.content, upload), {
    status: 507,
    code: 'INSUFFICIENT_STORAGE',
  });
  assert.deepEqual((await crowded.client.files.list()).data, []);
  const { collection_id: collection } = await crowded.client.collections.create({ name: 'tea' });
  const { record_id: record } = await crowded.client.records.create(collection, { content: 'Green tea.' });
  const waiting = await untilWaiting(crowded, collection, record);
  assert.deepEqual([waiting.status, waiting.progress?.stage], ['creating', 'waiting_for_disk']);
  const metrics = await fetch(`${crowded.pluginsUrl}/metrics`);
  assert.match(await metrics.text(), /^quartermaster_background_work_paused 1$/m);
  for (const prefer of ['', 'respond-async']) assert.equal((await calculate(crowded, prefer)).status, 507);
  assert.equal((await fetch(`${crowded.filesUrl}/v1/ready`)).status, 200);
  assert.deepEqual(await conditionsOf(crowded), ['uploads_refused', 'background_paused']);
  for (let i = 0; i < 3; i++)
    await assert.rejects(crowded.client.files.upload(upload.content, upload), { status: 507 });
  assert.equal(await crowded.stop(), 0);
  const lines = crowded.log().trim().split('\n');
  assert.equal(lines.filter((line) => line.includes('uploads refused: the disk is nearly full')).length, 1);
  assert.deepEqual(
    lines.filter((line) => line.includes('"level":"error"')),
    [],
  );

  const roomy = await startService(t, { folder, settings: { MIN_FREE_DISK_MB: '0' } });
  assert.equal((await settledRecord(roomy.client, collection, record)).status, 'ready');
  assert.equal((await roomy.client.files.upload(upload.content, upload)).bytes, 10);
  assert.equal((await calculate(roomy, '')).status, 200);
  assert.equal((await calculate(roomy, 'respond-async')).status, 202);
  assert.equal(await roomy.stop(), 0);
});

test('[disk] without a minimum, a small disk takes uploads after a restart, and after the operator has freed space', async (t) => {
  const folder = await mountDisk(t, 100);
  const settings = { MIN_FREE_DISK_MB: '0' };
  const upload = { purpose: 'record_file', name: 'tea.txt' } as const;
  const text = (letter: string, megabytes: number) => new Blob([`${letter.repeat(99)}\n`.repeat(10_000 * megabytes)]);
  const service = await startService(t, { folder, settings });
  await service.client.files.upload(text('a', 5), upload);
  while (!(await exists(join(folder, 'ballast')))) await pause(100);
  assert.equal(await service.stop(), 0);

  const again = await startService(t, { folder, settings });
  await again.client.files.upload(text('b', 5), upload);
  assert.equal((await conditionsOf(again)).includes('uploads_refused'), false);
  await fillDisk(folder);
  while (await exists(join(folder, 'ballast'))) await pause(100);
  await assert.rejects(again.client.files.upload(text('c', 1), upload), { status: 507 });
  assert.deepEqual(await conditionsOf(again), ['uploads_refused', 'background_paused']);
  await rm(join(folder, 'filler'));
  assert.equal(await untilUploaded(again, { ...upload, content: text('c', 1) }), 1_000_000);
  assert.equal((await conditionsOf(again)).includes('uploads_refused'), false);
  assert.equal(await again.stop(), 0);
});

async function conditionsOf({ filesUrl }: StartedService): Promise<string[]> {
  const answer = await fetch(`${filesUrl}/v1/ready?verbose=1`);
  const { data } = (await answer.json()) as { data: { conditions: ReadonlyArray<{ condition: string }> } };
  return data.conditions.map(({ condition }) => condition);
}

function calculate(service: StartedService, prefer: string): Promise<Response> {
  const input = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '1+1' } };
  const body = JSON.stringify({ ...input, credentials: {} });
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${service.key}`, Prefer: prefer };
  return fetch(`${service.pluginsUrl}/v1/execute`, { method: 'POST', headers, body });
}

test('[disk] while the disk quota of the data folder is used up, changes are refused with 507, and they succeed once there is space', async (t) => {
  const [work, folder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const { control, launcher } = createShim(work, folder, [{ name: 'all', glob: '*' }]);
  t.after(control.close);
  const service = await startService(t, { folder, launcher });
  const create = () => service.client.collections.create({ name: 'tea' });
  control.setFault({ call: 'write', fileClass: 0, nth: 1, persistent: true, error: 'EDQUOT' });
  await assert.rejects(create(), { status: 507, code: 'INSUFFICIENT_STORAGE' });
  const upload = { purpose: 'record_file', name: 'tea.txt', content: new Blob(['Green tea.']) } as const;
  await assert.rejects(service.client.files.upload(upload.content, upload), {
    status: 507,
    code: 'INSUFFICIENT_STORAGE',
  });
  assert.deepEqual((await service.client.collections.list()).data, []);
  control.setFault(undefined);
  await create();
  await service.client.files.upload(upload.content, upload);
  assert.equal(await service.stop(), 0);
});

test('[disk] records in progress leave a reserve, deletes and a start work on a full disk, and every record completes once there is space', async (t) => {
  const folder = await mountDisk(t, 256);
  await writeFile(join(folder, 'other'), Buffer.alloc(126 * mebibyte));
  const settings = { MIN_FREE_DISK_MB: '40' };
  const service = await startService(t, { folder, settings });
  while (!(await exists(join(folder, 'ballast')))) await pause(100);
  const { collection_id: collection } = await service.client.collections.create({ name: 'words' });
  // All files are stored before the first record needs space.
  const files: string[] = [];
  for (let i = 0; i < 5; i++) {
    const content = new Blob([manyWords(i, 1.5 * mebibyte)]);
    const upload = { purpose: 'record_file', name: `${i}.txt` } as const;
    files.push((await service.client.files.upload(content, upload)).file_id);
  }
  const records: Array<{ readonly file: string; readonly record: string }> = [];
  for (const file of files) {
    const { record_id: record } = await service.client.records.create(collection, { type: 'file', file_id: file });
    records.push({ file, record });
  }
  // Another program takes space while records are in work, so that the others have to wait, however fast the index is merged.
  const [indexed] = records;
  assert.ok(indexed !== undefined);
  assert.equal((await settledRecord(service.client, collection, indexed.record)).status, 'ready');
  const excess = (await freeMiB(folder)) - 30;
  if (excess > 0) await writeFile(join(folder, 'more'), Buffer.alloc(excess * mebibyte));
  const waiting: typeof records = [];
  for (const each of records) {
    const { status } = await untilWaiting(service, collection, each.record);
    if (status === 'creating') waiting.push(each);
  }
  assert.ok(waiting.length >= 2, `${waiting.length} records wait`);
  const [deleted] = waiting;
  assert.ok(deleted !== undefined);
  assert.ok((await freeMiB(folder)) > 8, 'what was in work has stopped before the disk was full');
  await service.client.records.delete(collection, deleted.record);
  await service.client.files.delete(deleted.file);
  await service.kill();

  await fillDisk(folder);
  assert.equal(await freeMiB(folder), 0);
  const again = await startService(t, { folder, settings });
  assert.equal(await exists(join(folder, 'ballast')), false, 'it was released for the start');
  const [first, second, ...rest] = records.filter((each) => each !== deleted);
  assert.ok(first !== undefined && second !== undefined);
  for (const { file, record } of [first, second]) {
    await again.client.records.delete(collection, record);
    await again.client.files.delete(file);
  }
  const upload = { purpose: 'record_file', name: 'a.txt', content: new Blob(['a']) } as const;
  await assert.rejects(again.client.files.upload(upload.content, upload), { status: 507 });

  await run('mount', ['-o', 'remount,size=1000m', folder]);
  for (const { record } of rest) {
    assert.equal((await settledRecord(again.client, collection, record)).status, 'ready');
  }
  // Uploads are refused until the space for deletions is reserved again.
  assert.equal(await untilUploaded(again, upload), 1);
  assert.equal(await exists(join(folder, 'ballast')), true);
  assert.equal(await again.stop(), 0);
});

/** Polls until the record waits for disk space. */
async function untilWaiting({ client }: StartedService, collection: string, record: string): Promise<RecordItem> {
  for (;;) {
    const item = await client.records.get(collection, record);
    if (item.status !== 'creating' || item.progress?.stage === 'waiting_for_disk') return item;
    await pause(50);
  }
}

/** Repeats an upload while the disk is nearly full. Returns the bytes that were stored. */
async function untilUploaded({ client }: StartedService, upload: Upload): Promise<number> {
  for (;;) {
    try {
      return (await client.files.upload(upload.content, upload)).bytes;
    } catch (error) {
      if (!(error instanceof ServerError) || error.status !== 507) throw error;
      await pause(100);
    }
  }
}

/** Mounts a separate disk. This needs root, as the network namespaces of other tests do. */
async function mountDisk(t: TestContext, megabytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', folder]);
  t.after(async () => {
    await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true });
  });
  return folder;
}

async function freeMiB(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.floor((bavail * bsize) / mebibyte);
}

async function fillDisk(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  await writeFile(join(folder, 'filler'), Buffer.alloc(bavail * bsize + mebibyte)).catch((error) =>
    assert.equal(error.code, 'ENOSPC'),
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Returns words that rarely repeat, so that the index grows with the text. */
function manyWords(seed: number, bytes: number): string {
  let state = seed * 7919 + 1;
  const words: string[] = [];
  for (let length = 0; length < bytes; ) {
    state = (state * 48_271) % 2_147_483_647;
    const word = (state % 1_000_000).toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '');
    words.push(word);
    length += word.length + 1;
  }
  return words.join(' ');
}
