import assert from 'node:assert/strict';
import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { findFiles } from '../support/find-files.ts';
import { runCommand, succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const command = (folder: string, ...args: string[]) => succeed({ folder }, ...args);
const pathsOf = (folder: string) => findFiles(join(folder, 'blobs'));

interface Ready {
  readonly data: { readonly conditions: ReadonlyArray<{ readonly condition: string; readonly count: number }> };
}

async function conditionsOf({ filesUrl }: StartedService): Promise<string[]> {
  const { data } = (await (await fetch(`${filesUrl}/v1/ready?verbose`)).json()) as Ready;
  return data.conditions.map(({ condition, count }) => `${condition} ${count}`);
}

async function metricOf({ filesUrl, key }: StartedService, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${filesUrl}/metrics`, { headers: { Authorization: `Bearer ${key}` } })).text();
  return new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1];
}

const upload = (service: StartedService, text: string) =>
  service.client.files.upload(new Blob([text]), { purpose: 'record_file', name: 'tea.txt' });

test('[damage] after an older database was restored nothing is erased, the log asks the operator, and every file can be recovered', async (t) => {
  const service = await startService(t);
  const { folder, key } = service;
  const contents = Array.from({ length: 6 }, (_, index) => `tea ${index}`);
  for (const content of contents) await upload(service, content);
  await service.stop();
  for (const path of await pathsOf(folder)) await utimes(path, 0, 0);
  // Restores the rows from before the uploads.
  const db = new DatabaseSync(join(folder, 'quartermaster.db'));
  db.exec('delete from file; delete from blob');
  db.close();

  const restarted = await startService(t, { folder, key });
  await untilLog(restarted, 'too many orphaned blobs');
  assert.deepEqual(await conditionsOf(restarted), ['orphaned 6']);
  assert.equal(await metricOf(restarted, 'quartermaster_blobs_orphaned'), '6');
  assert.equal((await pathsOf(folder)).length, 6);
  await restarted.stop();

  assert.match(await command(folder, 'quarantine', 'sweep'), /moved into the quarantine: 6/);
  assert.deepEqual(await pathsOf(folder), []);
  const [project] = JSON.parse(
    `[${(await command(folder, 'project', 'list')).match(/proj\w{20}/)?.map((id) => `"${id}"`) ?? ''}]`,
  );
  const listed = (await command(folder, 'quarantine', 'list')).split('\n').map((line) => JSON.parse(line));
  for (const { blobId } of listed) {
    await command(folder, 'quarantine', 'restore', blobId, '--project', project, '--name', 'tea.txt');
  }
  const again = await startService(t, { folder, key });
  const files = (await again.client.files.list()).data;
  const texts = files.map(async ({ file_id: id }) => (await again.client.files.content(id)).text());
  assert.deepEqual((await Promise.all(texts)).sort(), contents);
  assert.deepEqual(await conditionsOf(again), []);
  assert.equal(await again.stop(), 0);
});

test('[damage] readiness and metrics report a missing blob, fsck names its file, and a new upload repairs it', async (t) => {
  const service = await startService(t);
  const { file_id: id } = await upload(service, 'green tea');
  assert.deepEqual(await conditionsOf(service), []);
  for (const path of await pathsOf(service.folder)) await rm(path);
  await assert.rejects(service.client.files.content(id), { status: 503 });
  assert.deepEqual(await conditionsOf(service), ['damaged 1']);
  assert.equal(await metricOf(service, 'quartermaster_blobs_damaged'), '1');
  const failed = await runCommand(service, 'fsck');
  assert.equal(failed.code, 1);
  const [fault] = JSON.parse(failed.output).faults;
  assert.deepEqual([fault.kind, fault.files[0].fileId, fault.files[0].name], ['bytes_missing', id, 'tea.txt']);
  await upload(service, 'green tea');
  assert.equal(await (await service.client.files.content(id)).text(), 'green tea');
  assert.deepEqual(await conditionsOf(service), []);
  assert.equal(JSON.parse(await command(service.folder, 'fsck', '--hash')).open, 0);
  assert.match(await command(service.folder, 'verification', 'pause'), /paused/);
  assert.equal(JSON.parse(await command(service.folder, 'verification', 'status')).paused, true);
  assert.equal(await service.stop(), 0);
});

test('[damage] fsck and backup name a file that the disk cannot read, continue and exit with 1, and a new upload repairs it', async (t) => {
  const service = await startService(t);
  const { file_id: id } = await upload(service, 'green tea');
  const [path = ''] = await pathsOf(service.folder);
  await upload(service, 'black tea');
  const env = { FAIL_READS: path, NODE_OPTIONS: `--import=${join(import.meta.dirname, '../support/fail-reads.ts')}` };
  const into = await temporaryFolder(t);
  for (const args of [
    ['fsck', '--hash', '--repair'],
    ['backup', join(into, 'one')],
  ]) {
    const failed = await runCommand({ folder: service.folder, environment: env }, ...args);
    assert.equal(failed.code, 1, failed.errors);
    const { faults } = JSON.parse(failed.output);
    const reported = faults.map(({ kind, files: [file] }: Fault) => [kind, file?.fileId, file?.name]);
    assert.deepEqual(reported, [['unreadable', id, 'tea.txt']]);
  }
  assert.equal((await pathsOf(join(into, 'one'))).length, 1);
  assert.deepEqual(await conditionsOf(service), ['damaged 1']);
  await upload(service, 'green tea');
  assert.deepEqual(await conditionsOf(service), []);
  assert.equal(JSON.parse(await command(service.folder, 'fsck', '--hash')).open, 0);
  assert.equal(await service.stop(), 0);
});

test('[damage] a damaged table of a SQLite database turns readiness to 503, which names table and page, and a damaged header makes the start fail', async (t) => {
  const service = await startService(t);
  const { folder, key } = service;
  assert.equal(await service.stop(), 0);
  const file = join(folder, 'quartermaster.db');
  const db = new DatabaseSync(file);
  db.exec('pragma wal_checkpoint(truncate)');
  // No request of this test reads the table.
  const page = Number(db.prepare("select rootpage from sqlite_schema where name = 'similarity_scale'").get()?.rootpage);
  db.close();
  const original = await readFile(file);
  const flipped = Buffer.from(original);
  for (let place = 0; place < 64; place++) {
    const at = (page - 1) * 4096 + place;
    flipped.writeUInt8((flipped[at] ?? 0) ^ 0xff, at);
  }
  await writeFile(file, flipped);
  const damaged = await startService(t, { folder, key });
  await untilLog(damaged, '"database damaged"');
  const answer = await fetch(`${damaged.filesUrl}/v1/ready`);
  const { error } = (await answer.json()) as { error: { details: unknown } };
  assert.equal(answer.status, 503);
  assert.deepEqual(error.details, [{ part: 'database', condition: 'damaged', table: 'similarity_scale', page }]);
  assert.equal(await metricOf(damaged, 'quartermaster_database_damaged_tables'), '1');
  assert.equal(await damaged.stop(), 0);
  const restarted = await startService(t, { folder, key });
  assert.equal(
    (await fetch(`${restarted.filesUrl}/v1/ready`)).status,
    503,
    'the damage is known before the next check',
  );
  assert.equal(await restarted.stop(), 0);

  // SQLite keeps the log of a damaged database, which may hold the header.
  for (const log of ['-wal', '-shm']) await rm(file + log, { force: true });
  flipped.fill(0, 0, 16);
  await writeFile(file, flipped);
  await assert.rejects(startService(t, { folder, key }), /The database \S+ is damaged: file is not a database/);
});

interface Fault {
  readonly kind: string;
  readonly files: ReadonlyArray<{ readonly fileId: string; readonly name: string }>;
}

/** Resolves when the log contains this text, because the sweep runs in parallel with the start. */
async function untilLog(service: StartedService, text: string): Promise<void> {
  while (!service.log().includes(text)) await new Promise((resolve) => service.process.stderr?.once('data', resolve));
}
