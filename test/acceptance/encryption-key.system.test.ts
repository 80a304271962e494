import assert from 'node:assert/strict';
import { chmod, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { send } from '../support/http.ts';
import { databaseFor } from '../support/postgres.ts';
import { runCommand, succeed } from '../support/run-command.ts';
import { writeSchemeBundles } from '../support/scheme-bundles.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

type Settings = Readonly<Record<string, string>>;

const command = (settings: Settings, ...args: string[]) => succeed({ settings }, ...args);

async function bundleSettings(t: TestContext): Promise<Settings> {
  const folder = await temporaryFolder(t);
  await writeSchemeBundles(folder);
  return { BUNDLES: folder, ISOLATION: 'process' };
}

/** Sends a request about profiles and returns the status. */
async function profile({ pluginsUrl, key }: StartedService, method: string, name: string): Promise<number> {
  const url = `${pluginsUrl}/v1/credential_profiles`;
  const json = { name, bundle_id: 'bearer', credentials: { KEY: 'a key of a third party' } };
  return (await (method === 'GET' ? send(`${url}/${name}`, { key }) : send(url, { key, json }))).status;
}

test('[profiles] a SQLite store creates its encryption key once, readable by its owner only; a backup contains it if the operator asks', async (t) => {
  const settings = await bundleSettings(t);
  const first = await startService(t, { settings });
  const { folder, key } = first;
  const file = join(folder, 'encryption-key');
  const written = await readFile(file, 'utf8');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('encryption-key')),
    ['encryption-key'],
  );
  assert.equal(await profile(first, 'POST', 'one'), 200);

  const into = await temporaryFolder(t);
  await command({ DATA: folder }, 'backup', join(into, 'without'));
  await command({ DATA: folder }, 'backup', join(into, 'with'), '--include-key');
  assert.equal((await readdir(join(into, 'without'))).includes('encryption-key'), false);
  assert.equal(await readFile(join(into, 'with/encryption-key'), 'utf8'), written);
  await first.stop();

  await command({}, 'restore', join(into, 'with'), join(into, 'restored'));
  await chmod(join(into, 'restored/encryption-key'), 0o644);
  const restored = await startService(t, { folder: join(into, 'restored'), key, settings });
  assert.equal(await profile(restored, 'GET', 'one'), 200);
  assert.equal(await restored.stop(), 0);
  const warning = /"level":"warn".*"mode":"0644".*"msg":"encryption key accessible to other users/;
  assert.match(restored.log(), warning);
  assert.doesNotMatch(first.log(), warning);

  // A store without its key starts again after the encrypted data are given up.
  await rename(file, join(into, 'lost-key'));
  await assert.rejects(startService(t, { folder, settings }), /encryption-key\\".*quartermaster -- profile forget/);
  assert.match(await command({ DATA: folder }, 'profile', 'forget', '--unreadable'), /^removed proj\w+\/one$/);
  const again = await startService(t, { folder, settings });
  assert.equal(await profile(again, 'GET', 'one'), 404);
  assert.equal(await again.stop(), 0);
  assert.notEqual(await readFile(file, 'utf8'), written);

  // A lost key is replaced while nothing is encrypted.
  await rm(file);
  const replaced = await startService(t, { folder, settings });
  assert.equal(await profile(replaced, 'POST', 'two'), 200);
  assert.equal(await replaced.stop(), 0);
});

test('[profiles] with PostgreSQL a process with another encryption key does not start and names the remedy, rotation or forgetting the lost key', async (t) => {
  const url = await databaseFor(t);
  const [older, newer] = [await command({}, 'profile', 'new-key'), await command({}, 'profile', 'new-key')];
  const folder = await temporaryFolder(t);
  const bundles = await bundleSettings(t);
  const settings = (SEALING_KEY: string) => ({ ...bundles, DATABASE_URL: url, SEALING_KEY });
  const start = (key: string) => startService(t, { folder, settings: settings(key) });
  const first = await start(older);
  assert.equal(await first.stop(), 0);
  assert.equal((await readdir(folder)).includes('encryption-key'), false);
  // The start is also refused while nothing is encrypted, because the two processes would encrypt with different keys.
  const other = /encryption key [0-9a-f]{12} of the settings is not the one of this store.*QUARTERMASTER_SEALING_KEY/;
  const refusal: Error = await start(newer).then(
    () => assert.fail('it started'),
    (error) => error,
  );
  assert.match(refusal.message, other);
  const reasons = refusal.message.split('\n').filter((line) => other.test(line));
  assert.equal(reasons.length, 1, 'the reason is printed once');

  const both = await start(`${newer},${older}`);
  assert.equal(await profile(both, 'POST', 'one'), 200);
  await command({ ...settings(`${newer},${older}`), DATA: folder }, 'profile', 'rotate');
  assert.equal(await both.stop(), 0);
  await assert.rejects(start(older), /1 with the key [0-9a-f]{12}.*quartermaster -- profile forget --unreadable/);
  const rotated = await start(newer);
  assert.equal(await profile(rotated, 'GET', 'one'), 200);
  assert.equal(await rotated.stop(), 0);

  await command({ ...settings(older), DATA: folder }, 'profile', 'forget', '--unreadable');
  await assert.rejects(start(newer), other);
  const started = await start(older);
  assert.equal(await profile(started, 'GET', 'one'), 404);
  assert.equal(await started.stop(), 0);
});

test('[profiles] a process without the new encryption key responds with 503 and the remedy, and the rotation warns of it', async (t) => {
  const url = await databaseFor(t);
  const [older, newer] = [await command({}, 'profile', 'new-key'), await command({}, 'profile', 'new-key')];
  const bundles = await bundleSettings(t);
  for (const database of [{}, { DATABASE_URL: url }]) {
    const folder = await temporaryFolder(t);
    const service = await startService(t, { folder, settings: { ...bundles, ...database, SEALING_KEY: older } });
    assert.equal(await profile(service, 'POST', 'one'), 200);
    const rotation = { ...bundles, ...database, DATA: folder, SEALING_KEY: `${newer},${older}` };
    const { output, errors } = await runCommand({ settings: rotation }, 'profile', 'rotate');
    const keyId = /^encrypted with the key ([0-9a-f]{12}): 1$/.exec(output)?.[1];
    assert.match(errors, new RegExp(`Restart all processes .* key ${keyId}.* 503`));
    const { status, headers, code, message } = await execute(service);
    assert.deepEqual([status, headers.get('retry-after'), code], [503, '60', 'SERVICE_UNAVAILABLE']);
    assert.match(message, new RegExp(`"one".* key ${keyId}, which this process does not have.* Restart it`));
    assert.equal(await service.stop(), 0);
    const nothing = await runCommand({ settings: rotation }, 'profile', 'rotate');
    assert.deepEqual([nothing.output, nothing.errors], [`encrypted with the key ${keyId}: 0`, '']);
  }
});

/** Runs a plugin with the profile `one`. */
function execute({ pluginsUrl, key }: StartedService) {
  const json = { bundle_id: 'bearer', plugin_id: 'ask', input_params: { mode: 'ok', q: 'x' } };
  return send(`${pluginsUrl}/v1/execute`, { key, json: { ...json, credentials: { $profile: 'one' } } });
}
