import assert from 'node:assert/strict';
import { access, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createS3Client } from '../../packages/server/src/storage/s3/s3-client.ts';
import { createS3Objects } from '../../packages/server/src/storage/s3/s3-objects.ts';
import { launcherOf, startStorage } from '../support/object-storage.ts';
import { databaseFor } from '../support/postgres.ts';
import { runCommand, succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const BLOBS = 's3://store/some/prefix';
const ready = async ({ filesUrl }: StartedService) => (await fetch(`${filesUrl}/v1/ready`)).status;
const upload = async ({ client }: StartedService, text: string) =>
  (await client.files.upload(new Blob([text]), { purpose: 'record_file', name: `${text}.txt` })).file_id;
const textOf = async ({ client }: StartedService, id: string) => await (await client.files.content(id)).text();

const databases: Record<string, (t: TestContext) => Promise<{ readonly DATABASE_URL?: string }>> = {
  SQLite: async () => ({}),
  PostgreSQL: async (t) => ({ DATABASE_URL: await databaseFor(t) }),
};

for (const [kind, open] of Object.entries(databases)) {
  test(`[backup] after the loss of the database, a backup is restored onto the objects that stayed in place: ${kind}`, async (t) => {
    const storage = await startStorage(t);
    const { environment } = storage;
    const launcher = launcherOf(environment);
    const settings = { BLOBS, ...(await open(t)) };
    const service = await startService(t, { settings, launcher });
    const { folder, key } = service;
    const [stays, deleted] = [await upload(service, 'stays'), await upload(service, 'deleted')];
    const into = await temporaryFolder(t);
    const backup = join(into, 'backup');
    const sent = storage.seen.length;
    const report = JSON.parse(await succeed({ folder, settings, environment }, 'backup', backup));
    assert.deepEqual([report.blobs, report.faults, report.objects.place], [2, [], BLOBS]);
    const ofBackup = storage.seen.slice(sent).filter(({ path }) => !path.includes('/doctor/'));
    assert.deepEqual(ofBackup, []);
    await assert.rejects(access(join(backup, 'blobs')));
    await service.client.files.delete(deleted);
    await upload(service, 'later');

    const next = { BLOBS, ...(await open(t)) };
    // A refused start leaves no store, which would stop the restore.
    const unused = join(into, 'unused');
    const early = startService(t, { folder: unused, settings: next, launcher });
    await assert.rejects(early, /s3:\/\/store\/some\/prefix belongs to another store/);
    assert.ok(!(await readdir(unused)).includes('quartermaster.db'));
    const restored = join(into, 'restored');
    const restore = (...options: string[]) =>
      runCommand({ settings: next, environment }, 'restore', backup, restored, ...options);
    const refused = await restore('--hash');
    assert.match(refused.errors, /All 2 objects of the backup are in s3:.* Nothing was restored, .* add --claim/);
    assert.equal(await ready(service), 200);
    if (kind === 'PostgreSQL') {
      for (const [DATABASE_URL, reason] of [
        [settings.DATABASE_URL ?? '', /already holds a store/],
        ['postgres://ada@127.0.0.1:1/x', /PostgreSQL cannot be reached/],
      ] as const) {
        const place = { settings: { ...next, DATABASE_URL }, environment };
        assert.match((await runCommand(place, 'restore', backup, restored)).errors, reason);
      }
    }
    assert.equal((await restore('--claim')).code, 0);

    // The service on the lost database erases nothing any more, and its next start is refused.
    const since = performance.now();
    while ((await ready(service)) === 200) assert.ok(performance.now() - since < 30_000);
    await service.kill();
    await assert.rejects(
      startService(t, { folder, key, settings, launcher }),
      /does not hold the content of this store/,
    );

    await writeFile(join(restored, 'first-key'), key);
    const again = await startService(t, { folder: restored, settings: next, launcher });
    assert.deepEqual([await textOf(again, stays), await textOf(again, deleted)], ['stays', 'deleted']);
    const place = { folder: restored, settings: next, environment };
    const checked = JSON.parse(await succeed(place, 'fsck', '--hash'));
    assert.deepEqual([checked.blobsChecked, checked.filesOnDisk, checked.faults], [2, 3, []]);
    assert.equal(await again.stop(), 0);
  });
}

test('[backup] a restore names the files whose objects are missing or changed, and restores nothing', async (t) => {
  const storage = await startStorage(t);
  const { environment } = storage;
  const settings = { BLOBS };
  const service = await startService(t, { settings, launcher: launcherOf(environment) });
  for (const text of ['one', 'two', 'six']) await upload(service, text);
  const { folder } = service;
  const into = await temporaryFolder(t);
  const backup = join(into, 'backup');
  await succeed({ folder, settings, environment }, 'backup', backup);
  await service.stop();
  const client = createS3Client(storage.place);
  t.after(() => client.close());
  const objects = createS3Objects(client);
  const restore = (own: Record<string, string>, ...options: string[]) =>
    runCommand({ settings: own, environment }, 'restore', backup, join(into, 'restored'), '--claim', ...options);
  assert.match((await restore({})).errors, /The content is in s3:.* Set QUARTERMASTER_BLOBS/);
  const elsewhere = { BLOBS: 's3://store/other' };
  assert.match((await restore(elsewhere)).errors, /other does not hold the content of this backup: its store\.json/);
  const [first] = await Array.fromAsync(objects.list('blobs'));
  const [found] = storage.seen.filter(({ path }) => path.endsWith(first?.name ?? '-')).map(({ path }) => path);
  await objects.remove((found ?? '').slice('/store/some/prefix/'.length));
  const { errors, code } = await restore(settings);
  assert.equal(code, 1);
  assert.match(errors, /The content of 1 files is missing from the object storage, which keeps .* for 30 days/);
  await assert.rejects(access(join(into, 'restored')));
  const damaged = await restore(settings, '--damaged');
  assert.deepEqual(JSON.parse(damaged.output).faults.length, 1);
});
