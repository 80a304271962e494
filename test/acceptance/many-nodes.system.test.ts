import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { createEncryptionKey } from '../../packages/server/src/access/credential-profiles/encryption.ts';
import { createApiKey } from '../../packages/server/src/access/projects/api-key.ts';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { startS3Server } from '../../packages/server/src/storage/s3/testing/s3-server.fixture.ts';
import { settledRecord } from '../support/client.ts';
import { findFreePorts } from '../support/free-port.ts';
import { send } from '../support/http.ts';
import { callTool } from '../support/mcp-knowledge.ts';
import { databaseFor } from '../support/postgres.ts';
import { succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

/** The settings with which nodes serve one store, in PostgreSQL and object storage. */
async function openStore(t: TestContext) {
  const server = await startS3Server();
  t.after(() => server.close());
  const { endpoint, accessKeyId, secretAccessKey } = server.place;
  const environment: Record<string, string> = {
    AWS_ENDPOINT_URL: endpoint ?? '',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey.reveal(),
  };
  const key = createApiKey();
  const url = await databaseFor(t);
  const settings: Record<string, string> = {
    BLOBS: 's3://store/some/prefix',
    DATABASE_URL: url,
    FIRST_KEY: key,
    SEALING_KEY: createEncryptionKey(),
    PLUGINS_KEY: 'required',
  };
  const launcher = ['env', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
  const query = async (text: string) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async (own: Readonly<Record<string, string>> = {}, folder?: string) =>
    startService(t, {
      folder: folder ?? (await temporaryFolder(t)),
      key,
      settings: { ...settings, ...own },
      launcher,
    });
  const listNodes = async () =>
    (await succeed({ folder: await temporaryFolder(t), settings, environment }, 'nodes', '--json'))
      .split('\n')
      .map((line) => JSON.parse(line));
  return { start, settings, key, query, listNodes };
}

async function reasonOf(start: Promise<StartedService>): Promise<string> {
  const refused = await start.then(
    () => assert.fail('the service started'),
    (error: Error) => error.message,
  );
  const line = refused.split('\n').find((each) => each.includes('service failed')) ?? assert.fail(refused);
  return JSON.parse(line).reason;
}

test('[nodes] three nodes that start at the same time serve one store: what one answered, the others read at once', async (t) => {
  const store = await openStore(t);
  const nodes = await Promise.all([store.start(), store.start(), store.start()]);
  const [first, second, third] = nodes as [StartedService, StartedService, StartedService];

  for (const [index, { client }] of nodes.entries()) {
    const text = `tea ${index} ${'x'.repeat(300_000)}`;
    const { file_id: id } = await client.files.upload(new Blob([text]), { purpose: 'record_file', name: 'tea.txt' });
    for (const other of nodes) assert.equal(await (await other.client.files.content(id)).text(), text);
    const { collection_id: collectionId } = await client.collections.create({ name: `tea ${index}` });
    const content = `The otter number ${index} likes green tea.`;
    const { record_id: recordId } = await client.records.create(collectionId, {
      type: 'text',
      title: 'Otter',
      content,
    });
    assert.equal((await settledRecord(client, collectionId, recordId)).status, 'ready');
    for (const other of nodes) {
      const { key } = store;
      assert.equal((await other.client.records.get(collectionId, recordId)).status, 'ready');
      const json = { query_text: 'otter', max_chunks: 5 };
      const found = await send(`${other.filesUrl}/v1/collections/${collectionId}/chunks/query`, { key, json });
      assert.deepEqual([found.status, found.body.data.length], [200, 1], found.text);
      const called = await callTool(`${other.pluginsUrl}/mcp`, key, 'search', { query: `otter ${index}` });
      assert.match(JSON.stringify(called), new RegExp(`otter number ${index}`));
    }
    const json = {
      bundle_id: 'qr_code_generator',
      plugin_id: 'generate_qr_code',
      input_params: { text: `${index}` },
      credentials: {},
    };
    const run = await send(`${nodes[index]?.pluginsUrl}/v1/execute`, { key: store.key, json });
    const [artifact] = run.body.data.artifacts;
    for (const other of nodes) {
      const seen = await send(`${other.pluginsUrl}/v1/artifacts/${artifact.artifact_id}`, { key: store.key });
      const link = new URL(seen.body.data.file_url);
      const bytes = await fetch(new URL(`${link.pathname}${link.search}`, other.pluginsUrl));
      assert.deepEqual([bytes.status, (await bytes.arrayBuffer()).byteLength], [200, artifact.bytes]);
    }
    await client.files.delete(id);
    for (const other of nodes) await assert.rejects(other.client.files.content(id), { status: 404 });
  }

  const [project] = (await first.client.projects.list()).data;
  const projectId = project?.project_id ?? '';
  const created = await first.client.keys.create(projectId, { name: 'reader', scopes: ['files'] });
  const statusAt = async ({ filesUrl }: StartedService) => (await send(`${filesUrl}/v1/files`, created)).status;
  assert.deepEqual(await Promise.all(nodes.map(statusAt)), [200, 200, 200]);
  await second.client.keys.revoke(projectId, created.key_id);
  let [revokedAt, sentAt] = [performance.now(), 0];
  await until(async () => {
    sentAt = performance.now();
    return (await Promise.all(nodes.map(statusAt))).every((status) => status === 401);
  });
  // Until the request was sent that every node refused, not until its answer, which a busy machine delays.
  assert.ok(sentAt - revokedAt < 1000, `${sentAt - revokedAt} ms`);

  const listed = await store.listNodes();
  assert.deepEqual(
    listed.map(({ state, serves, address }) => [state, serves, nodes.some(({ filesUrl }) => filesUrl === address)]),
    nodes.map(() => ['running', 'both', true]),
  );
  assert.match(listed[0].capabilities.schema, /^\d{4}-/);
  await until(async () =>
    /quartermaster_nodes 3/.test((await send(`${third.filesUrl}/metrics`, { key: store.key })).text),
  );
  const tasks = await store.query('select task, count(*)::int as leaders from task_leader group by task');
  assert.ok(tasks.length > 10 && tasks.every(({ leaders }) => leaders === 1), JSON.stringify(tasks));
  // One link at most is valid, and a node that starts later does not void it.
  assert.equal((await store.query('select * from set_up_token')).length, 1);

  for (const node of nodes) assert.equal(await node.stop(), 0);
  assert.deepEqual(
    (await store.listNodes()).map(({ state }) => state),
    ['stopped', 'stopped', 'stopped'],
  );
});

test('[nodes] a node with another encryption key, other settings, another place or without the place is refused, and says why', async (t) => {
  const store = await openStore(t);
  const node = await store.start();
  const about = `at node .* \\(${node.filesUrl}, host `;
  const otherKey = await reasonOf(store.start({ SEALING_KEY: createEncryptionKey() }));
  assert.match(otherKey, /^The encryption keys differ between the nodes of this store: this process encrypts with /);
  assert.match(otherKey, /Set QUARTERMASTER_SEALING_KEY .* to the keys of the other nodes\./);
  const otherUrl = await reasonOf(store.start({ PUBLIC_FILES_URL: 'https://files.example.com' }));
  assert.match(
    otherUrl,
    new RegExp(`^QUARTERMASTER_PUBLIC_FILES_URL differs .*: https://files.example.com/? here, unset ${about}`),
  );
  const otherPlace = await reasonOf(store.start({ BLOBS: 's3://store/other' }));
  assert.match(otherPlace, /^QUARTERMASTER_BLOBS differs .*: s3:\/\/store\/other here, s3:\/\/store\/some\/prefix at /);
  // One node deletes for all.
  for (const [setting, name] of [
    [{ BLOBS: `${store.settings.BLOBS}?keep_deleted_days=7` }, 'keep_deleted_days of QUARTERMASTER_BLOBS'],
    [{ RUN_DAYS: '7' }, 'QUARTERMASTER_RUN_DAYS'],
  ] as const) {
    assert.match(await reasonOf(store.start(setting)), new RegExp(`^${name} differs .*: 7 here, 30 ${about}`));
  }
  const { BLOBS: _, ...onDisk } = store.settings;
  const noPlace = await reasonOf(
    startService(t, { folder: await temporaryFolder(t), key: store.key, settings: onDisk }),
  );
  assert.match(noPlace, /^The content of this store is in the object storage s3:\/\/store\/some\/prefix\./);
  assert.match(await reasonOf(store.start({}, node.folder)), /is in use by another process/);
  // The refused starts changed nothing.
  await node.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.txt' });
  assert.deepEqual(
    (await store.listNodes()).map(({ state }) => state),
    ['running'],
  );

  // A new key is first added to every node, and then made the first.
  const { SEALING_KEY: old = '' } = store.settings;
  const next = createEncryptionKey();
  const second = await store.start({ SEALING_KEY: `${old},${next}` });
  assert.match(await reasonOf(store.start({ SEALING_KEY: `${next},${old}` })), /^The encryption keys differ/);
  assert.equal(await node.stop(), 0);
  const third = await store.start({ SEALING_KEY: `${next},${old}` });
  for (const each of [second, third]) assert.equal(await each.stop(), 0);
});

test('[nodes] a rolling restart loses no request of a client that repeats a request once', async (t) => {
  const store = await openStore(t);
  const places = await Promise.all(
    [0, 1, 2].map(async () => ({ ports: await findFreePorts(), folder: await temporaryFolder(t) })),
  );
  const startAt = ({ ports, folder }: (typeof places)[number]) =>
    store.start({ FILES_PORT: `${ports.files}`, PLUGINS_PORT: `${ports.plugins}`, DRAIN_SECONDS: '1' }, folder);
  const nodes = await Promise.all(places.map(startAt));
  const urls = nodes.map(({ filesUrl }) => filesUrl);
  const counts = { requests: 0, repeated: 0, failed: 0 };
  let isOver = false;

  /** Sends a request to the next node, and once more to the one after it. */
  async function request(path: string, init: () => RequestInit): Promise<Response> {
    const place = ++counts.requests;
    for (const isLast of [false, true]) {
      const url = urls[(place + Number(isLast)) % urls.length];
      const headers = { Authorization: `Bearer ${store.key}`, ...init().headers };
      const response = await fetch(`${url}${path}`, { ...init(), headers }).catch(() => undefined);
      if (response?.ok) return response;
      if (!isLast) counts.repeated += 1;
      else throw new Error(`${path}: ${response?.status} ${await response?.text()}`);
    }
    throw new Error('not reached');
  }
  async function work(): Promise<void> {
    while (!isOver) {
      const text = `tea ${crypto.randomUUID()}`;
      const body = () => {
        const form = new FormData();
        form.set('purpose', 'record_file');
        form.set('file', new Blob([text]), 'tea.txt');
        return form;
      };
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const stored = await request('/v1/files', () => ({ method: 'POST', body: body(), headers }));
      const { data } = (await stored.json()) as { data: { file_id: string } };
      const found = await request(`/v1/files/${data.file_id}/content`, () => ({}));
      assert.equal(await found.text(), text);
    }
  }
  const workers = [0, 1, 2, 3].map(() =>
    work().catch((error: Error) => {
      counts.failed += 1;
      t.diagnostic(error.message);
    }),
  );
  for (const [index, place] of places.entries()) {
    const before = counts.requests;
    assert.equal(await nodes[index]?.stop(), 0);
    nodes[index] = await startAt(place);
    await until(() => counts.requests > before + 20 || counts.failed > 0);
  }
  isOver = true;
  await Promise.all(workers);
  t.diagnostic(JSON.stringify(counts));
  assert.equal(counts.failed, 0);
  assert.ok(counts.repeated > 0);
  // Each address has one row: a start replaces the row of the process before it.
  assert.equal((await store.listNodes()).length, 3);
});
