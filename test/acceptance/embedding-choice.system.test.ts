import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EmbeddingModels } from '@quartermaster/contract';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { type SignedIn, setUp, signedIn } from '../support/administrator.ts';
import { settledRecord } from '../support/client.ts';
import { type MirrorOptions, startModelMirror } from '../support/model-mirror.ts';
import { succeed } from '../support/run-command.ts';
import { logLines, type StartedService, startService, temporaryFolder } from '../support/service.ts';

const name = 'multilingual-e5-small';
const other = 'all-MiniLM-L6-v2';

/** A service that reaches a mirror in place of the hub, with a record that no word of the question finds. */
async function open(t: TestContext, options: MirrorOptions = {}) {
  const { mirror, requests } = await startModelMirror(t, options);
  const settings = { EGRESS_OVERRIDES: JSON.stringify({ 'https://huggingface.co': mirror }) };
  const service = await startService(t, { settings });
  const admin = await setUp(service);
  const { collection_id: collection } = await service.client.collections.create({ name: 'things' });
  const { record_id } = await service.client.records.create(collection, { content: 'Green tea.' });
  await settledRecord(service.client, collection, record_id);
  return { service, admin, collection, settings, requests };
}

async function read(answer: Response): Promise<EmbeddingModels> {
  const { data, error } = (await answer.json()) as { data: EmbeddingModels; error?: { message: string } }; // the contract
  assert.equal(answer.status, 200, error?.message ?? '');
  return data;
}
const models = async ({ ask }: SignedIn) => read(await ask('GET', '/v1/embedding_models'));
const choose = ({ ask }: SignedIn, model: string | null) => ask('POST', '/v1/embedding_models', { body: { model } });
const stateOf = ({ models: all }: EmbeddingModels, model: string) => all.find((each) => each.name === model)?.state;

async function find({ client }: StartedService, collection: string): Promise<string | undefined> {
  const [best] = await client.search(collection, { query_text: 'a hot beverage', top_k: 1 });
  return best?.content;
}

async function metricOf({ filesUrl, key }: StartedService, line: string): Promise<boolean> {
  const metrics = await fetch(`${filesUrl}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  return (await metrics.text()).split('\n').includes(line);
}

test('[embeddings] an administrator chooses a model, whose download is shown, and search finds by meaning without a restart', async (t) => {
  const { service, admin, collection } = await open(t);
  const before = await models(admin);
  assert.deepEqual(
    [before.obstacle, before.download, before.collections, before.source],
    [null, null, null, 'https://huggingface.co'],
  );
  const listed = before.models.find((each) => each.name === name);
  assert.deepEqual([listed?.licence, listed?.bytes, listed?.state], ['MIT', 487_000_000, null]);
  assert.equal(await find(service, collection), undefined);

  const begun = await read(await choose(admin, name));
  assert.deepEqual([begun.download?.model, begun.download?.phase], [name, 'download']);
  await until(async () => stateOf(await models(admin), name) === 'in_use');
  await until(async () => (await models(admin)).download === null);
  await until(async () => (await models(admin)).collections?.num_embedded === 1);
  assert.equal((await models(admin)).collections?.num_all, 1);
  await until(async () => (await find(service, collection)) === 'Green tea.');
  assert.ok(await metricOf(service, 'quartermaster_embedding_model_downloads_total{outcome="succeeded"} 1'));

  await choose(admin, other);
  await until(async () => stateOf(await models(admin), other) === 'in_use');
  assert.equal(stateOf(await models(admin), name), 'former');
  await until(async () => (await service.client.collections.get(collection)).embedding?.model.includes(other) === true);
  await until(async () => (await find(service, collection)) === 'Green tea.');
  const events = await admin.ask('GET', '/v1/audit_events?action=embedding_model.chosen');
  const { data } = (await events.json()) as { data: Array<{ object_id: string; actor_kind: string }> };
  assert.deepEqual(
    data.map((event) => [event.object_id, event.actor_kind]),
    [
      [other, 'account'],
      [name, 'account'],
    ],
  );
});

test('[embeddings] a download goes on after the service was killed, and can be cancelled', async (t) => {
  let isStalled = true;
  const { service, admin, collection, settings } = await open(t, { answer: () => isStalled });
  await read(await choose(admin, name));
  const refused = await choose(admin, other);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /multilingual-e5-small is being downloaded\. Wait until it ends, or cancel it/);
  assert.equal((await read(await choose(admin, name))).download?.model, name);
  await service.kill();

  const second = await startService(t, { folder: service.folder, settings });
  const again = await signedIn(second, admin);
  assert.equal((await models(again)).download?.model, name);
  assert.equal(await second.stop(), 0);

  const third = await startService(t, { folder: service.folder, settings });
  const list = async () => JSON.parse(await readFile(join(service.folder, 'models', 'models.json'), 'utf8'));
  assert.equal((await list()).wanted, name);
  const present = await signedIn(third, admin);
  assert.equal((await read(await choose(present, null))).download, null);
  assert.deepEqual(await list(), { in_use: [], sha256: {} });
  assert.ok(await metricOf(third, 'quartermaster_embedding_model_downloads_total{outcome="cancelled"} 1'));
  isStalled = false;
  await read(await choose(present, name));
  await until(async () => (await models(present)).collections?.num_embedded === 1);
  await until(async () => (await find(third, collection)) === 'Green tea.');
});

test('[embeddings] a model that cannot be used is refused with the reason, and nothing changes', async (t) => {
  const { service, admin, collection } = await open(t, { dimensions: 3 });
  const unknown = await choose(admin, 'e5');
  assert.equal(unknown.status, 422);
  assert.match(await unknown.text(), /body\/model must be one of multilingual-e5-small, /);
  await read(await choose(admin, name));
  await until(async () => (await models(admin)).download?.phase === 'failed');
  const { download, models: listed } = await models(admin);
  assert.match(download?.error ?? '', /returned a vector of 3 dimensions instead of 384/);
  assert.ok(listed.every(({ state }) => state === null));
  assert.equal(await find(service, collection), undefined);
  await until(() => logLines(service, 'embedding model not downloaded').length === 1);
  assert.equal((await read(await choose(admin, null))).download, null);
});

test('[embeddings] a service whose settings name a provider says so, and chooses no model', async (t) => {
  const service = await startService(t, { settings: { EMBEDDING_PROVIDER: 'none' } });
  const admin = await setUp(service);
  assert.match((await models(admin)).obstacle ?? '', /EMBEDDING_PROVIDER is "none", and settings take precedence/);
  const refused = await choose(admin, name);
  assert.deepEqual([refused.status, (await refused.text()).includes('Remove this setting first')], [501, true]);
  const byKey = await fetch(`${service.filesUrl}/v1/embedding_models`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  assert.equal(byKey.status, 403);
});

test('[backup] a restored or moved store has the model again: the one downloads it, the other one has copied it', async (t) => {
  const { service, admin, collection, settings, requests } = await open(t);
  await read(await choose(admin, name));
  await until(async () => (await models(admin)).collections?.num_embedded === 1);
  const before = (await service.client.collections.get(collection)).embedding?.model;
  const folder = await temporaryFolder(t);
  const [backup, restored, moved] = ['backup', 'restored', 'moved'].map((each) => join(folder, each)) as [
    string,
    string,
    string,
  ];
  const store = { folder: service.folder };
  const report = JSON.parse(await succeed(store, 'backup', backup, '--json'));
  assert.equal(report.embeddingModel, name);
  assert.equal(JSON.parse(await succeed(store, 'restore', backup, restored, '--json')).embeddingModel, name);
  assert.equal(await service.stop(), 0);
  const calls = requests.length;
  const same = async (copy: StartedService) => {
    await until(async () => (await copy.client.collections.get(collection)).vectors === 'current');
    assert.equal((await copy.client.collections.get(collection)).embedding?.model, before);
    await until(async () => (await find(copy, collection)) === 'Green tea.');
    assert.equal(await copy.stop(), 0);
  };
  await succeed(store, 'move', '--to-folder', moved);
  await same(await startService(t, { folder: moved, key: service.key, settings }));
  assert.equal(requests.length, calls);
  await same(await startService(t, { folder: restored, key: service.key, settings }));
  assert.ok(requests.length > calls);
});
