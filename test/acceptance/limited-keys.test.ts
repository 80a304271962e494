import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NewApiKey, scopes } from '@quartermaster/contract';
import { settledRecord } from '../support/client.ts';
import { type DocumentedOperation, listOperations } from '../support/documented-operations.ts';
import { send } from '../support/http.ts';
import { limitedService } from '../support/limits.ts';
import { addDocument, askMcp, callTool } from '../support/mcp-knowledge.ts';
import { share } from '../support/service.ts';

const limited = limitedService({
  settings: { LOG_LEVEL: 'warn', PLUGINS_KEY: 'required', SEALING_KEY: Buffer.alloc(32, 7).toString('base64') },
});

/** A key sees one of two collections and one of two bundles. Everything in the other ones has a mark in its name. */
const shared = share(async () => {
  const { service } = limited;
  const { client, filesUrl, pluginsUrl, key: first } = service;
  const ask = async (url: string, json?: object, headers = {}) => {
    const answer = await send(url, { key: first, json, headers });
    assert.ok(answer.status < 300, answer.text);
    return answer.body.data;
  };
  const seen = await addDocument(service, { name: 'open', content: 'otters swim' });
  const hidden = await addDocument(service, { name: 'marked', content: 'otters and marked swim' });
  const upload = (name: string, text: string) => uploadText(filesUrl, first, { name, text });
  const addFile = async (collectionId: string, fileId: string) => {
    const { record_id } = await client.records.create(collectionId, { type: 'file', file_id: fileId });
    await settledRecord(client, collectionId, record_id);
  };
  const files = { seen: await upload('open.txt', 'otters'), hidden: await upload('marked.txt', 'marked otters') };
  await addFile(seen.collectionId, files.seen);
  await addFile(hidden.collectionId, files.hidden);
  const chunks = await ask(`${filesUrl}/v1/collections/${hidden.collectionId}/chunks`);
  const qr = {
    bundle_id: 'qr_code_generator',
    plugin_id: 'generate_qr_code',
    input_params: { text: 'x' },
    credentials: {},
  };
  const drawn = await ask(`${pluginsUrl}/v1/execute`, big(qr));
  const run = await ask(`${pluginsUrl}/v1/execute`, {
    tool_name: 'time__list_timezones',
    input_params: {},
    credentials: {},
  });
  const profile = { name: 'marked', bundle_id: 'slack', credentials: { SLACK_BOT_TOKEN: 'xoxb-1' } };
  await ask(`${pluginsUrl}/v1/credential_profiles`, profile);
  const connection = { bundle_id: 'open_weather', end_user: 'marked' };
  const { connection_id } = await ask(`${pluginsUrl}/v1/connections`, connection);
  const [project] = await ask(`${filesUrl}/v1/projects`);
  const keysUrl = `${filesUrl}/v1/projects/${project.project_id}/keys`;
  await ask(`${filesUrl}/v1/projects/${project.project_id}/rate_limits`, { tool: 'slack', per_day: 1_000 });
  const createKey = async (body: object, maker = first) =>
    await send(keysUrl, { key: maker, json: { name: 'limited', ...body } });
  const limits = { collections: [seen.collectionId], tools: ['calculator', 'qr_code_generator'] };
  // The list of keys shows neither limit of it.
  await createKey({ collections: [hidden.collectionId], tools: ['slack', 'time/list_timezones'] });
  const limitedKey: NewApiKey = (await createKey({ scopes: [...scopes], ...limits })).body.data;
  const ids = {
    ...{ collection_id: hidden.collectionId, record_id: hidden.recordId, chunk_id: chunks[0].chunk_id },
    ...{ file_id: files.hidden, run_id: run.run_id, artifact_id: drawn.artifacts[0].artifact_id },
    ...{ bundle_id: 'slack', plugin_id: 'post_message', name: 'marked', page: '1', connection_id },
  };
  return {
    service,
    seen,
    hidden,
    files,
    ids,
    key: limitedKey.key,
    limitedKey,
    limits,
    qr,
    keysUrl,
    createKey,
    projectId: project.project_id,
  };
});

async function uploadText(
  filesUrl: string,
  key: string,
  { name, text }: { name: string; text: string },
): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'record_file');
  form.set('file', new Blob([text]), name);
  const { body, text: answer } = await send(`${filesUrl}/v1/files`, { key, method: 'POST', body: form });
  assert.ok(body?.data, answer);
  return body.data.file_id;
}

/** Draws a picture so large that it becomes an artifact. */
function big<Call extends object>(qr: Call) {
  return { ...qr, input_params: { text: 'x', scale: 20 } };
}

/** Ids of the same forms that no object has. */
const unknown = {
  ...{ collection_id: `coll${'0'.repeat(20)}`, record_id: `rcrd${'0'.repeat(20)}`, chunk_id: `chnk${'0'.repeat(20)}` },
  ...{ file_id: `file${'0'.repeat(20)}`, run_id: `xrun${'0'.repeat(20)}`, artifact_id: `arti${'0'.repeat(20)}` },
  ...{ bundle_id: 'nowhere', plugin_id: 'post_message', name: 'unknown', page: '1' },
  connection_id: `conn${'0'.repeat(20)}`,
};

/** The operations without the id of a hidden object: their request, and what the limited key gets. */
const others: Readonly<
  Record<string, { readonly status: number; readonly json?: (h: Hidden) => unknown; readonly path?: string }>
> = {
  'files listFiles': { status: 200, path: '?count=true' },
  'files getLimits': { status: 200 },
  'files createCollection': { status: 403, json: () => ({ name: 'another' }) },
  'files listCollections': { status: 200, path: '?count=true' },
  'files queryCollections': {
    status: 404,
    json: ({ collection_id }) => ({ collection_ids: [collection_id], query_text: 'otters' }),
  },
  'files retrieveForDify': {
    status: 404,
    json: ({ collection_id }) => ({ knowledge_id: collection_id, query: 'otters' }),
  },
  'files getOwnKey': { status: 200 },
  'files listProjects': { status: 200 },
  'files listKeys': { status: 200 },
  'files createKey': { status: 403, json: ({ collection_id }) => ({ name: 'x', collections: [collection_id] }) },
  'files rotateKey': { status: 404 },
  'files revokeKey': { status: 404 },
  'files listApplications': { status: 200 },
  'files listAuditEvents': { status: 403 },
  'files exportAuditEvents': { status: 403 },
  'files listRateLimits': { status: 200 },
  'files createRateLimit': { status: 403, json: ({ bundle_id }) => ({ tool: bundle_id, per_day: 1 }) },
  'files deleteRateLimit': { status: 404 },
  'files revokeApplication': { status: 404 },
  'plugins listBundles': { status: 200 },
  'plugins listPlugins': { status: 200, path: '?q=post+a+message+to+a+channel+of+slack' },
  'plugins listCredentialProfiles': { status: 200 },
  'plugins listConnections': { status: 200, path: '?count=true' },
  'plugins createConnection': { status: 404, json: ({ bundle_id }) => ({ bundle_id, end_user: 'u' }) },
  'plugins confirmConnection': { status: 404, json: () => ({ confirmation: 'x', end_user: 'u' }) },
  'plugins deleteEndUser': { status: 200 },
  'plugins createCredentialProfile': {
    status: 404,
    json: ({ bundle_id }) => ({ name: 'n', bundle_id, credentials: { SLACK_BOT_TOKEN: 'x' } }),
  },
  'plugins updateCredentialProfile': { status: 404, json: () => ({ credentials: {} }) },
  'plugins execute': {
    status: 404,
    json: ({ bundle_id, plugin_id }) => ({
      bundle_id,
      plugin_id,
      input_params: {},
      credentials: { $profile: 'marked' },
    }),
  },
  'plugins verifyCredentials': { status: 404, json: ({ bundle_id }) => ({ bundle_id, credentials: {} }) },
  'plugins listOptions': { status: 404, json: () => ({ property: 'text', input_params: {}, credentials: {} }) },
  'plugins listRuns': { status: 200, path: '?count=true' },
};
/** They are about no object that a limit can hide: the service, the bytes that the request sends, and paths with rows of their own. */
const unaffected = new Set([
  ...[
    'files getMetrics',
    'files uploadFile',
    'files loadForOpenWebUi',
    'plugins getMetrics',
    'plugins getArtifactContent',
  ],
  ...['files readPluginsAddress', 'files callPluginsAddress', 'files deleteAtPluginsAddress'],
]);
type Hidden = Readonly<Record<string, string>>;

test('[limits] for a key that is limited to collections and tools, nothing else exists on any path of the API', async (t) => {
  const { service, ids, key, projectId } = await shared();
  const marks = new RegExp(
    `marked|slack|list_timezones|${Object.values(ids)
      .filter((id) => id.length === 24)
      .join('|')}`,
    'i',
  );
  const addresses = { files: service.filesUrl, plugins: service.pluginsUrl } as const;
  const operations = (
    await Promise.all((['files', 'plugins'] as const).map((one) => listOperations(one, addresses[one])))
  ).flat();
  const wrong: string[] = [];
  let cells = 0;
  const ask = async ({ name, method, path }: DocumentedOperation, of: Hidden, base: string) => {
    const row = others[name];
    const url = path.replace(
      /\{(\w+)\}/g,
      (_, parameter: string) => of[parameter] ?? { project_id: projectId }[parameter] ?? 'x',
    );
    const body = row?.json?.(of) ?? {};
    const sent = method === 'GET' || method === 'DELETE' ? { method } : { method, json: body };
    const { status, text } = await send(base + url + (row?.path ?? ''), { key, ...sent });
    return { status, text };
  };
  for (const operation of operations) {
    const { name, path, takesKeys } = operation;
    const namesHidden = Object.keys(ids).some((parameter) => path.includes(`{${parameter}}`));
    if (!takesKeys || unaffected.has(name)) continue;
    const row = others[name];
    if (row === undefined && !namesHidden) wrong.push(`${name} has no expectation`);
    const bases = name.startsWith('files') ? [addresses.files] : [addresses.plugins, `${addresses.files}/plugins`];
    for (const base of bases) {
      const hidden = await ask(operation, ids, base);
      const missing = await ask(operation, unknown, base);
      cells += 2;
      // The request's own names may come back. Everything else must be the same as for what does not exist.
      const plain = (text: string, of: Hidden) =>
        Object.entries(of)
          .reduce((rest, [parameter, id]) => (id.length > 1 ? rest.replaceAll(id, `<${parameter}>`) : rest), text)
          .replace(/"request_id":"[^"]*"/, '');
      if (hidden.status !== (row?.status ?? 404)) wrong.push(`${name}: ${hidden.status} ${hidden.text.slice(0, 200)}`);
      if (hidden.status >= 400 && plain(hidden.text, ids) !== plain(missing.text, unknown)) {
        wrong.push(`${name} differs: ${hidden.text.slice(0, 300)} / ${missing.text.slice(0, 300)}`);
      }
      const found = hidden.status < 400 ? marks.exec(hidden.text) : null;
      if (found !== null)
        wrong.push(`${name} shows ${found[0]}: ${hidden.text.slice(Math.max(0, found.index - 80), found.index + 80)}`);
    }
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${cells} cells of ${operations.length} operations`);
});

test('[limits] a limited key sees, counts and searches only its collections, the files of their records and its own uploads', async () => {
  const { service, seen, hidden, files, key, limitedKey, limits, createKey } = await shared();
  const { filesUrl } = service;
  const get = async (path: string, init = {}) => await send(filesUrl + path, { key, ...init });
  assert.deepEqual([limitedKey.collections, limitedKey.tools], [limits.collections, limits.tools]);
  assert.deepEqual((await get('/v1/key')).body.data.collections, limits.collections);
  const collections = (await get('/v1/collections?count=true')).body;
  assert.deepEqual([collections.total_count, collections.data[0].collection_id], [1, seen.collectionId]);
  const quota = (await get('/v1/limits')).body.data;
  assert.deepEqual([quota.quota.bytes_used, quota.quota.bytes_left, quota.rate.uploads_in_flight], [null, null, null]);

  const own = await uploadText(filesUrl, key, { name: 'own.txt', text: 'otters of its own' });
  const listed = (await get('/v1/files?count=true')).body;
  assert.deepEqual(
    [listed.total_count, listed.data.map(({ file_id: id }: { file_id: string }) => id)],
    [2, [own, files.seen]],
  );
  const records = `/v1/collections/${seen.collectionId}/records`;
  for (const query of ['', '?dry_run=true']) {
    const stolen = await get(records + query, { json: { type: 'file', file_id: files.hidden } });
    assert.deepEqual([stolen.status, stolen.message.startsWith(`No file with the id "${files.hidden}"`)], [404, true]);
    assert.equal((await get(records + query, { json: { type: 'file', file_id: own } })).status, 200);
  }
  // Another record of the project has the file too, and only what the key sees refers to it.
  await service.client.records.create(hidden.collectionId, { type: 'file', file_id: own });
  const { references } = (await get(`/v1/files/${own}`)).body.data;
  assert.deepEqual(
    references.map(({ collection_id: id }: { collection_id: string }) => id),
    [seen.collectionId],
  );
  const reader = (await createKey({ scopes: ['files:read'] })).body.data.key;
  const shown = await send(`${filesUrl}/v1/files/${own}`, { key: reader });
  assert.deepEqual([shown.status, shown.body.data.references], [200, []], 'without collections:read');
  assert.equal((await get(`/v1/files/${files.seen}`, { method: 'DELETE' })).status, 403);
  const another = await uploadText(filesUrl, key, { name: 'another.txt', text: 'to delete' });
  assert.equal((await get(`/v1/files/${another}`, { method: 'DELETE' })).status, 200);
  const both = { collection_ids: [seen.collectionId, hidden.collectionId], query_text: 'otters' };
  assert.equal((await get('/v1/chunks/query', { json: both })).status, 404);
});

test('[limits] over MCP a limited key reads only its collections, and finds and calls only its tools', async () => {
  const { service, seen, hidden, ids, key } = await shared();
  const hiddenUri = `quartermaster://collections/${hidden.collectionId}/records/${hidden.recordId}`;
  for (const base of [service.pluginsUrl, service.filesUrl]) {
    const url = `${base}/mcp`;
    const call = async (name: string, input: object) => await callTool(url, key, name, input);
    const { collections } = (await call('list_collections', {})).structuredContent;
    assert.deepEqual(
      collections.map(({ id }: { id: string }) => id),
      [seen.collectionId],
    );
    const { results, not_searched: notSearched } = (await call('search', { query: 'otters marked' })).structuredContent;
    assert.deepEqual(
      [[...new Set(results.map((one: { collection_id: string }) => one.collection_id))], notSearched],
      [[seen.collectionId], undefined],
    );
    for (const [name, input] of [
      ['search', { query: 'otters', collections: [hidden.collectionId] }],
      ['fetch', { id: hiddenUri }],
      ['fetch', { id: `quartermaster://collections/${hidden.collectionId}/chunks/${ids.chunk_id}` }],
    ] as const) {
      const answer = await call(name, input);
      assert.equal(answer.isError, true, JSON.stringify(answer));
      assert.doesNotMatch(JSON.stringify(answer), /marked/);
    }
    const resources = await askMcp(url, key, 'resources/list');
    assert.doesNotMatch(JSON.stringify(resources.body), new RegExp(`marked|${hidden.collectionId}`));
    assert.ok(resources.body.result.resources.length > 0);
    const cursor = `${hidden.collectionId}.${hidden.recordId}`;
    assert.doesNotMatch(JSON.stringify((await askMcp(url, key, 'resources/list', { cursor })).body), /marked/);
    assert.ok((await askMcp(url, key, 'resources/read', { uri: hiddenUri })).body.error);
    for (const path of [`/collections/${hidden.collectionId}`, '/slack']) {
      assert.equal((await askMcp(url + path, key, 'tools/list')).status, 404, path);
    }
    assert.equal((await askMcp(`${url}/collections/${seen.collectionId}`, key, 'tools/list')).status, 200);
    const { body } = await askMcp(url, key, 'tools/call', { name: 'slack__post_message', arguments: {} });
    assert.match(body.error.message, /^Unknown tool/);
  }
});

test('[limits] a key with plugins:read lists and runs only plugins that read, and changes nothing', async () => {
  const { service, createKey, keysUrl, ids } = await shared();
  const { pluginsUrl } = service;
  const { key } = (await createKey({ scopes: ['plugins:read'] })).body.data;
  const tools = (await askMcp(`${pluginsUrl}/mcp/slack?tools=all`, key, 'tools/list')).body.result.tools;
  assert.ok(
    tools.length > 0 &&
      tools.every((tool: { annotations: { readOnlyHint: boolean } }) => tool.annotations.readOnlyHint),
  );
  const post = { tool_name: 'slack__post_message', input_params: { channel: 'c', text: 't' }, credentials: {} };
  const execute = async (json: object, headers = {}) => await send(`${pluginsUrl}/v1/execute`, { key, json, headers });
  for (const headers of [{}, { Prefer: 'respond-async' }, { 'Idempotency-Key': 'once' }]) {
    const { status, message } = await execute(post, headers);
    assert.deepEqual([status, /lacks the scope "plugins".*are "write"/.test(message)], [403, true], message);
  }
  const direct = `${pluginsUrl}/v1/bundles/slack/plugins/post_message/execute`;
  assert.equal((await send(direct, { key, json: post.input_params })).status, 403);
  const choices = { property: 'channel', input_params: {}, credentials: {} };
  assert.equal((await send(`${pluginsUrl}/v1/plugins/slack/post_message/options`, { key, json: choices })).status, 403);
  const sum = { tool_name: 'calculator__evaluate', input_params: { expression: '6*7' }, credentials: {} };
  assert.equal((await execute(sum)).status, 200);
  const started = await execute(sum, { Prefer: 'respond-async' });
  const of: Hidden = { ...ids, run_id: started.body.data.run_id };
  // The other operations that change something.
  const runPlugins = ['plugins execute', 'plugins executeDirectly', 'plugins listOptions'];
  const changing = (await listOperations('plugins', pluginsUrl)).filter(
    ({ name, method, takesKeys }) => takesKeys && method !== 'GET' && !runPlugins.includes(name),
  );
  assert.ok(changing.some(({ name }) => name === 'plugins cancelRun'));
  for (const { name, method, path } of changing) {
    const url = path.replace(/\{(\w+)\}/g, (_, parameter: string) => of[parameter] ?? '');
    const sent = method === 'DELETE' ? { method } : { method, json: others[name]?.json?.(of) ?? {} };
    for (const base of [pluginsUrl, `${service.filesUrl}/plugins`]) {
      assert.equal((await send(base + url, { key, ...sent })).status, 403, `${name} at ${base}`);
    }
  }
  assert.equal((await send(keysUrl, { key })).status, 403);
});

test('[limits] no key gives more than it has, and its limits stay when it is replaced and when its collections are deleted', async () => {
  const { service, seen, hidden, key, limits, qr, keysUrl, createKey } = await shared();
  const { filesUrl, client } = service;
  const limitsOf = ({ body }: Awaited<ReturnType<typeof createKey>>) => [body.data.collections, body.data.tools];
  assert.deepEqual(limitsOf(await createKey({}, key)), [limits.collections, limits.tools]);
  const narrow = await createKey(
    { scopes: ['collections:read'], collections: limits.collections, tools: ['calculator/evaluate'] },
    key,
  );
  assert.deepEqual(limitsOf(narrow), [limits.collections, ['calculator/evaluate']]);
  for (const more of [
    { collections: [hidden.collectionId] },
    { collections: [seen.collectionId, `coll${'0'.repeat(20)}`] },
    { tools: ['slack'] },
  ]) {
    const { status, message } = await createKey(more, key);
    assert.deepEqual(
      [status, /is limited by its `(?:collections|tools)` and cannot grant "/.test(message)],
      [403, true],
      message,
    );
  }
  const reader = (await createKey({ scopes: ['collections:read', 'admin'] })).body.data.key;
  assert.equal((await createKey({ scopes: ['collections'] }, reader)).status, 403);
  assert.equal((await createKey({ scopes: ['collections:read'] }, reader)).status, 200);
  const wide = (await createKey({ collections: [hidden.collectionId] })).body.data;
  const stolen = await send(`${keysUrl}/${wide.key_id}/rotate`, { key, json: {} });
  assert.equal(stolen.status, 403);
  assert.doesNotMatch(stolen.text, new RegExp(hidden.collectionId));
  for (const collections of [[], ['x'], [`coll${'0'.repeat(20)}`]]) {
    assert.ok([404, 422].includes((await createKey({ collections })).status));
  }

  const limitedToBoth = (await createKey(limits)).body.data;
  const fileId = await uploadText(filesUrl, limitedToBoth.key, { name: 'early.txt', text: 'before the rotations' });
  const drawn = await send(`${service.pluginsUrl}/v1/execute`, { key: limitedToBoth.key, json: big(qr) });
  let latest = limitedToBoth;
  for (let n = 0; n < 2; n++) {
    latest = (await send(`${keysUrl}/${latest.key_id}/rotate`, { key: service.key, json: {} })).body.data;
  }
  for (const path of [
    `${filesUrl}/v1/files/${fileId}`,
    `${service.pluginsUrl}/v1/artifacts/${drawn.body.data.artifacts[0].artifact_id}`,
  ]) {
    assert.equal((await send(path, { key })).status, 404, 'another key with the same limits does not own it');
    assert.equal((await send(path, { key: latest.key })).status, 200);
    assert.equal((await send(path, { key: latest.key, method: 'DELETE' })).status, 200);
  }

  const { collection_id: doomed } = await client.collections.create({ name: 'doomed' });
  const limited = (await createKey({ collections: [doomed] })).body.data;
  const rotated = (await send(`${keysUrl}/${limited.key_id}/rotate`, { key: service.key, json: {} })).body.data;
  assert.deepEqual(rotated.collections, [doomed]);
  await client.collections.delete(doomed);
  const left = await send(`${filesUrl}/v1/collections?count=true`, { key: rotated.key });
  assert.deepEqual([left.body.total_count, left.body.data], [0, []]);
});
