import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NewApiKey } from '@quartermaster/contract';
import { setUp } from '../support/administrator.ts';
import { send } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { share, startService } from '../support/service.ts';

/** All tests share a service and its administrator. */
const shared = share(async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn', PLUGINS_KEY: 'required' } });
  const admin = await setUp(service);
  return { service, admin, keys: `/v1/projects/${admin.projectId}/keys` };
});

const statusOf = async (url: string, key: string) => (await send(url, { key })).status;

/** Creates a key, by default with the first key, which has every scope. */
async function createKey(json: object, key?: string): Promise<NewApiKey> {
  const { service, keys } = await shared();
  const { status, text, body } = await send(service.filesUrl + keys, { key: key ?? service.key, json });
  assert.equal(status, 200, text);
  return body.data;
}

test('[keys] a new key has the scopes files, collections and plugins unless others are named', async () => {
  const { service } = await shared();
  const byApi = await createKey({ name: 'plain' });
  assert.deepEqual(byApi.scopes, ['files', 'collections', 'plugins']);
  const created = await runCommand(service, 'key', 'create', 'default', '--name', 'plain');
  assert.equal(created.code, 0, created.errors);
  const unknown = [
    [['key', 'list', 'nope'], 'project with the id or name "nope" was found', 'project list', 'projects'],
    [['key', 'revoke', 'nope'], 'key with the id "nope" was found', 'key list', 'keys'],
  ] as const;
  for (const [words, what, command, objects] of unknown) {
    const { errors } = await runCommand(service, ...words);
    const remedy = `Run "npm run quartermaster -- ${command}" to list the ${objects}.`;
    assert.equal(errors, `quartermaster: No ${what}. ${remedy}\n`);
  }
  const { filesUrl, pluginsUrl } = service;
  for (const key of [byApi.key, created.output]) {
    for (const url of [`${filesUrl}/v1/files`, `${filesUrl}/v1/collections`, `${pluginsUrl}/v1/bundles`]) {
      assert.equal(await statusOf(url, key), 200, url);
    }
    for (const path of ['/v1/projects', '/metrics']) assert.equal(await statusOf(filesUrl + path, key), 403, path);
  }
});

test('[keys] a key with scope admin from a version without the scope metrics can read the metrics', async () => {
  const { service, admin, keys } = await shared();
  const { key, scopes } = await createKey({ name: 'manager', scopes: ['admin'] });
  assert.deepEqual(scopes, ['admin']);
  for (const url of [service.filesUrl, service.pluginsUrl]) {
    assert.equal(await statusOf(`${url}/metrics`, key), 200, url);
  }
  await createKey({ name: 'prometheus', scopes: ['metrics'] }, key);

  // Counts include only what the caller may list.
  assert.equal((await admin.ask('POST', '/v1/projects', { body: { name: 'neighbour' } })).status, 200);
  const counts = async (url: string) => {
    const own = await send(`${service.filesUrl}${url}?limit=1&count=true`, { key });
    const ofAll = await admin.ask('GET', `${url}?limit=1&count=true`);
    return [own.body.total_count, ((await ofAll.json()) as { total_count: number }).total_count];
  };
  assert.deepEqual(await counts('/v1/projects'), [1, 2]);
  const listed = (await (await admin.ask('GET', `${keys}?limit=100`)).json()) as { data: unknown[] };
  assert.deepEqual(await counts(keys), Array(2).fill(listed.data.length));
  assert.ok(listed.data.length > 1);
});

test('[keys] a key names the key that created it, and the API and the command line revoke a key with its descendants', async () => {
  const { service, admin, keys } = await shared();
  const scopes = ['files', 'admin'];
  const createWith = (key?: string) => createKey({ name: 'child', scopes }, key);
  const useOf = (key: NewApiKey) => statusOf(`${service.filesUrl}/v1/files`, key.key);
  const newKey = await admin.ask('POST', keys, { body: { name: 'maker', scopes } });
  const { data: maker } = (await newKey.json()) as { data: NewApiKey };
  const child = await createWith(maker.key);
  const grandchild = await createWith(child.key);
  const makers = [maker, child, grandchild].map((key) => key.maker_key_id);
  assert.deepEqual(makers, [null, maker.key_id, child.key_id]);

  const plain = await admin.ask('DELETE', `${keys}/${child.key_id}`);
  assert.equal(plain.status, 200);
  assert.deepEqual([await useOf(maker), await useOf(child), await useOf(grandchild)], [200, 401, 200]);
  const offered = await runCommand(service, 'key', 'revoke', child.key_id);
  assert.match(offered.errors, /1 key that it created can still be used\. Use --descendants to revoke them too/);
  const revoked = await runCommand(service, 'key', 'revoke', child.key_id, '--descendants');
  assert.match(revoked.errors, new RegExp(`revoked ${grandchild.key_id}`));
  const second = await createWith(maker.key);
  const all = await admin.ask('DELETE', `${keys}/${maker.key_id}?descendants=true`);
  assert.equal(all.status, 200);
  assert.deepEqual([await useOf(maker), await useOf(second), await useOf(grandchild)], [401, 401, 401]);
});
