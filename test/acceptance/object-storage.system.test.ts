import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { send } from '../support/http.ts';
import { launcherOf, startStorage } from '../support/object-storage.ts';
import { databaseFor } from '../support/postgres.ts';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const settings = { BLOBS: 's3://store/some/prefix' };

test('[storage] with object storage, files are uploaded, read, checked and deleted, also after a crash and while requests fail', async (t) => {
  const storage = await startStorage(t);
  const { environment } = storage;
  const launcher = launcherOf(environment);
  const service = await startService(t, { settings, launcher });
  const { folder, key } = service;
  // Every second request fails at first.
  let count = 0;
  storage.choose = () => (++count % 2 === 0 ? 'refused' : undefined);
  const contents = [Buffer.from('green tea'), randomBytes(20_000_000)];
  const ids: string[] = [];
  for (const content of contents) {
    const name = `tea-${ids.length}.txt`;
    const text = content.length < 100 ? content : Buffer.from(content.toString('base64'));
    contents[ids.length] = text;
    const file = await service.client.files.upload(new Blob([text]), { purpose: 'record_file', name });
    ids.push(file.file_id);
  }
  const again = await service.client.files.upload(new Blob(['green tea']), {
    purpose: 'record_file',
    name: 'again.txt',
  });
  await service.kill();

  const restarted = await startService(t, { folder, key, settings, launcher });
  for (const [index, id] of ids.entries()) {
    const found = Buffer.from(await (await restarted.client.files.content(id)).arrayBuffer());
    assert.ok(contents[index]?.equals(found));
  }
  const headers = { Authorization: `Bearer ${key}`, Range: 'bytes=1000-1999' };
  const part = await fetch(`${restarted.filesUrl}/v1/files/${ids[1]}/content`, { headers });
  assert.equal(part.status, 206);
  assert.equal(await part.text(), contents[1]?.subarray(1000, 2000).toString());
  await assert.rejects(access(join(folder, 'blobs')));
  const checked = JSON.parse((await runCommand({ folder, settings, environment }, 'fsck', '--hash')).output);
  assert.deepEqual([checked.blobsChecked, checked.filesOnDisk, checked.faults], [2, 2, []]);
  for (const id of [...ids, again.file_id]) await restarted.client.files.delete(id);
  // The objects stay until no kept backup names them.
  const empty = JSON.parse((await runCommand({ folder, settings, environment }, 'fsck')).output);
  assert.deepEqual([empty.blobsChecked, empty.filesOnDisk, empty.faults], [0, 2, []]);
  assert.equal(await restarted.stop(), 0);
});

test('[storage] readiness and requests report object storage that does not answer, and the service continues when it does', async (t) => {
  const storage = await startStorage(t);
  const service = await startService(t, { settings, launcher: launcherOf(storage.environment) });
  const upload = () => service.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.txt' });
  storage.choose = () => 'cut';
  await assert.rejects(upload(), { status: 503, message: /The object storage failed/ });
  storage.choose = () => undefined;
  const { file_id: id } = await upload();
  assert.equal(await (await service.client.files.content(id)).text(), 'tea');
  const ready = await fetch(`${service.filesUrl}/v1/ready`);
  assert.equal(ready.status, 200);
  const metrics = await fetch(`${service.filesUrl}/metrics`, { headers: { Authorization: `Bearer ${service.key}` } });
  assert.match(await metrics.text(), /quartermaster_object_storage_requests_total\{method="PUT",result="failed"\} 1/);
  assert.equal(await service.stop(), 0);
});

test('[storage] a store and its object storage belong together: another store, another place and the data folder are refused', async (t) => {
  const { environment } = await startStorage(t);
  const launcher = launcherOf(environment);
  const service = await startService(t, { settings, launcher });
  const { folder } = service;
  await service.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.txt' });
  const backup = await runCommand({ folder, environment }, 'backup', join(folder, '..', 'no-backup'));
  assert.match(
    backup.errors,
    /The content is in s3:\/\/store\/some\/prefix, so nothing was written\. Set QUARTERMASTER_BLOBS/,
  );
  assert.equal(await service.stop(), 0);
  const start = (options: Parameters<typeof startService>[1]) => startService(t, { launcher, ...options });
  await assert.rejects(
    start({ folder }),
    /The content of this store is in the object storage s3:\/\/store\/some\/prefix\./,
  );
  await assert.rejects(
    start({ folder, settings: { BLOBS: 's3://store/other' } }),
    /s3:\/\/store\/other does not hold the content of this store, which is in s3:\/\/store\/some\/prefix/,
  );
  await assert.rejects(start({ folder: await temporaryFolder(t), settings }), /belongs to another store/);
  const onDisk = await startService(t);
  await onDisk.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.txt' });
  await onDisk.stop();
  const late = { folder: onDisk.folder, settings: { BLOBS: 's3://store/new' } };
  await assert.rejects(start(late), /The content of this store is in its data folder/);
});

test('[storage] with PostgreSQL and object storage, a plugins process with a folder of its own stores artifacts that others read', async (t) => {
  const { environment } = await startStorage(t);
  const launcher = launcherOf(environment);
  const shared = { ...settings, DATABASE_URL: await databaseFor(t), PLUGINS_KEY: 'required' };
  const service = await startService(t, { settings: shared, launcher });
  const { key } = service;
  const own = { ...shared, SERVE: 'plugins' };
  const plugins = await startService(t, { folder: await temporaryFolder(t), key, settings: own, launcher });
  const json = {
    bundle_id: 'qr_code_generator',
    plugin_id: 'generate_qr_code',
    input_params: { text: 'https://example.com/' },
    credentials: {},
  };
  const sent = await send(`${plugins.pluginsUrl}/v1/execute`, { key, json });
  const [artifact] = (sent.body.data as { artifacts: ReadonlyArray<{ artifact_id: string; bytes: number }> }).artifacts;
  const seen = await send(`${service.pluginsUrl}/v1/artifacts/${artifact?.artifact_id}`, { key });
  const found = await fetch((seen.body.data as { file_url: string }).file_url);
  assert.equal(found.status, 200);
  assert.equal((await found.arrayBuffer()).byteLength, artifact?.bytes);
  assert.equal(await plugins.stop(), 0);
  assert.equal(await service.stop(), 0);
});
