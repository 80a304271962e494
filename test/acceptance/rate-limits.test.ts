import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { type Sent, send } from '../support/http.ts';
import { connectMcp } from '../support/mcp-clients.ts';
import { askMcp } from '../support/mcp-knowledge.ts';
import { share, startService } from '../support/service.ts';

const sum = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '1+1' }, credentials: {} };
const zones = { tool_name: 'time__list_timezones', input_params: {}, credentials: {} };

/** A service with functions that manage its keys and limits. Limits of a day do not end while a test runs. */
const shared = share(async (t) => {
  const service = await startService(t, { settings: { CORS_ORIGINS: 'https://page.example' } });
  const { filesUrl, pluginsUrl, key: admin } = service;
  const [project] = (await send(`${filesUrl}/v1/projects`, { key: admin })).body.data;
  const base = `${filesUrl}/v1/projects/${project.project_id}`;
  const post = async (path: string, json: object) => {
    const sent = await send(base + path, { key: admin, json });
    assert.equal(sent.status, 200, sent.text);
    return sent.body.data;
  };
  return {
    service,
    filesUrl,
    pluginsUrl,
    limits: `${base}/rate_limits`,
    admin,
    newKey: (scopes: readonly string[]) => post('/keys', { name: 'limited', scopes }),
    limit: (body: object) => post('/rate_limits', body),
    forget: async (id: string) => {
      const sent = await send(`${base}/rate_limits/${id}`, { key: admin, method: 'DELETE' });
      assert.equal(sent.status, 200, sent.text);
    },
    execute: (key: string, json: object, headers = {}) => send(`${pluginsUrl}/v1/execute`, { key, json, headers }),
  };
});

/** Reads a list of items of RFC 9651 whose parameters are integers. Source: draft-ietf-httpapi-ratelimit-headers-10 */
function readField(sent: Sent, name: string): Array<Record<string, unknown>> {
  const text = sent.headers.get(name);
  if (text === null) return [];
  assert.match(text, /^"[^"\\]+"(?:;[a-z]+=\d+)+(?:, "[^"\\]+"(?:;[a-z]+=\d+)+)*$/);
  return text.split(', ').map((item) => {
    const [policy = '', ...parameters] = item.split(';');
    const values = parameters.map((one) => one.split('=')).map(([key = '', value]) => [key, Number(value)]);
    return { policy: policy.slice(1, -1), ...Object.fromEntries(values) };
  });
}

test('[rates] a limit of requests counts those of its key on both addresses, and every answer says what is left', async () => {
  const { filesUrl, pluginsUrl, limits, admin, newKey, limit, forget } = await shared();
  const { key, key_id: subject_id } = await newKey(['files', 'plugins']);
  const other = await newKey(['files']);
  const get = (url: string, of = key) => send(url, { key: of, headers: { origin: 'https://page.example' } });
  const before = await get(`${filesUrl}/v1/files`);
  assert.equal(before.headers.get('RateLimit'), null);
  const { rate_limit_id: id, ...rule } = await limit({ subject_id, per_day: 5, per_minute: 1_000 });
  assert.deepEqual([rule.subject_id, rule.per_day, rule.tool], [subject_id, 5, null]);
  const answers = [await get(`${filesUrl}/v1/files`), await get(`${pluginsUrl}/v1/bundles`)];
  answers.push(await get(`${filesUrl}/plugins/v1/bundles`), await get(`${pluginsUrl}/v1/runs`));
  await get(`${filesUrl}/v1/health`);
  assert.equal((await get(`${filesUrl}/v1/collections`)).status, 403, 'not counted');
  const own = await get(`${filesUrl}/v1/key`);
  assert.deepEqual(
    [...answers, own].map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  const shown = own.body.data.rate_limits.map(({ window, limit, remaining }: Record<string, unknown>) => [
    window,
    limit,
    remaining,
  ]);
  assert.deepEqual(shown, [
    ['minute', 1_000, 995],
    ['day', 5, 0],
  ]);
  const refused = await get(`${filesUrl}/v1/files`);
  assert.deepEqual([refused.status, refused.code], [429, 'RESOURCE_LIMIT_REACHED']);
  assert.match(refused.message, /^The rate limit of 5 requests per day is reached\. Retry in \d+ seconds\.$/);
  const wait = Number(refused.headers.get('Retry-After'));
  assert.deepEqual(refused.body.error.details, [
    { rate_limit_id: id, limit: 5, window: 'day', retry_after_seconds: wait },
  ]);
  for (const [nth, sent] of [...answers, own, refused].entries()) {
    const [policy, ...more] = readField(sent, 'RateLimit-Policy');
    assert.deepEqual([policy, more.length], [{ policy: `${id}-day`, q: 5, w: 86_400 }, 1]);
    const [left] = readField(sent, 'RateLimit');
    assert.deepEqual([left?.policy, left?.r], [`${id}-day`, Math.max(0, 4 - nth)]);
    assert.ok(Number(left?.t) >= wait && Number(left?.t) <= 86_400, `${left?.t} ${wait}`);
    assert.match(sent.headers.get('access-control-expose-headers') ?? '', /RateLimit, RateLimit-Policy, Retry-After/);
  }
  assert.equal((await get(`${filesUrl}/v1/files`, other.key)).status, 200, 'another key');
  const listed = await send(limits, { key: admin });
  assert.deepEqual(
    listed.body.data.map((one: { rate_limit_id: string }) => one.rate_limit_id),
    [id],
  );
  await forget(id);
  assert.equal((await get(`${filesUrl}/v1/files`)).status, 200, 'a deleted limit frees at once');
  const { key_id } = (await get(`${filesUrl}/v1/key`, admin)).body.data;
  const own_limit = await limit({ subject_id: key_id, per_day: 1 });
  assert.deepEqual(
    [(await get(`${filesUrl}/v1/files`, admin)).status, (await get(`${filesUrl}/v1/files`, admin)).status],
    [200, 429],
  );
  await forget(own_limit.rate_limit_id);
  assert.equal((await get(`${filesUrl}/v1/files`, admin)).status, 200, 'who manages limits never locks itself out');
  assert.equal((await send(`${limits}/${id}`, { key: admin, method: 'DELETE' })).status, 404);
  for (const wrong of [{}, { per_day: 0 }, { per_day: 1, tool: 'No Tool' }])
    assert.equal((await send(limits, { key: admin, json: wrong })).status, 422, JSON.stringify(wrong));
  assert.equal((await send(limits, { key: admin, json: { per_day: 1, subject_id: 'apik0' } })).status, 404);
});

test('[rates] a limit of a plugin counts runs that begin, each Idempotency-Key once, and no other plugin', async () => {
  const { newKey, limit, forget, execute, filesUrl } = await shared();
  const { key, key_id: subject_id } = await newKey(['plugins', 'files']);
  const requests = await limit({ subject_id, per_day: 100 });
  const runs = await limit({ subject_id, tool: 'calculator/evaluate', per_day: 5 });
  const wrong = await execute(key, { ...sum, input_params: { expression: 5 } });
  assert.equal(wrong.status, 422, wrong.text);
  const once = { 'Idempotency-Key': 'k1' };
  const first = await execute(key, sum, once);
  const repeated = await execute(key, sum, once);
  assert.equal(first.body.data.run_id, repeated.body.data.run_id);
  assert.equal((await execute(key, sum, { Prefer: 'respond-async' })).status, 202);
  const failed = await execute(key, { ...sum, input_params: { expression: '1/' } });
  assert.notEqual(failed.status, 200, failed.text);
  assert.equal(readField(failed, 'RateLimit').length, 2, failed.text);
  await execute(key, sum);
  await execute(key, sum);
  const refused = await execute(key, sum);
  assert.deepEqual([refused.status, refused.code], [429, 'RESOURCE_LIMIT_REACHED']);
  assert.match(refused.message, /^The rate limit of 5 runs of calculator\/evaluate per day is reached/);
  assert.equal((await execute(key, sum, { Prefer: 'respond-async' })).status, 429);
  assert.equal((await execute(key, sum, once)).status, 200, 'the answer of an earlier run');
  assert.equal((await execute(key, sum, { 'Idempotency-Key': 'k2' })).status, 429);
  assert.equal((await execute(key, zones)).status, 200);
  const own = await send(`${filesUrl}/v1/key`, { key });
  const left = own.body.data.rate_limits.map(({ tool, remaining }: Record<string, unknown>) => [tool, remaining]);
  // Two of 13 requests were replays.
  assert.deepEqual(left, [
    [null, 100 - 11],
    ['calculator/evaluate', 0],
  ]);
  for (const { rate_limit_id } of [requests, runs]) await forget(rate_limit_id);
});

for (const revision of ['2026-07-28', '2025-11-25'])
  test(`[rates] over MCP a refused call is a result that says when to repeat it: ${revision}`, async (t) => {
    const { newKey, limit, forget, filesUrl, service } = await shared();
    const { key, key_id: subject_id } = await newKey(['plugins', 'collections']);
    const url = `${filesUrl}/mcp`;
    const client = await connectMcp(t, url, { Authorization: `Bearer ${key}` }, revision);
    const call = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
    const add = () => call('calculator__evaluate', { expression: '1+1' });
    const runs = await limit({ subject_id, tool: 'calculator', per_minute: 1_000, per_day: 1 });
    assert.notEqual((await add()).isError, true);
    const refused = await add();
    assert.equal(refused.isError, true);
    assert.match(
      JSON.stringify(refused.content),
      /The rate limit of 1 run of calculator per day is reached\. Retry in \d+ seconds\./,
    );
    assert.match(JSON.stringify(refused._meta), /"code":"RESOURCE_LIMIT_REACHED".*"retry_after_seconds":\d+/);
    assert.notEqual((await call('list_collections', {})).isError, true, 'another tool');
    const requests = await limit({ subject_id, per_day: 1 });
    assert.notEqual((await call('list_collections', {})).isError, true);
    for (const name of ['list_collections', 'calculator__evaluate']) {
      const result = await call(name, {});
      assert.equal(result.isError, true);
      assert.match(
        JSON.stringify(result.content),
        /The rate limit of 1 request per day is reached\. Retry in \d+ seconds\./,
      );
    }
    const list = await askMcp(url, key, 'tools/list');
    assert.deepEqual([list.status, list.body.error.code], [429, 'RESOURCE_LIMIT_REACHED']);
    await until(async () => service.log().includes('rate limit reached'));
    for (const { rate_limit_id } of [requests, runs]) await forget(rate_limit_id);
    assert.notEqual((await add()).isError, true);
  });
