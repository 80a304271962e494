import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitedService } from '../support/limits.ts';
import { askMcp, callTool } from '../support/mcp-knowledge.ts';
import { runCommand } from '../support/run-command.ts';

const shared = limitedService({ settings: { PLUGINS_KEY: 'required' } });

/** Sends JSON with a key, by default the first key, which has every scope. */
function post(url: string, body: object, key = shared.service.key, headers: Record<string, string> = {}) {
  const all = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers };
  return shared.send(url, { method: 'POST', body: JSON.stringify(body), headers: all });
}

async function keysUrl(): Promise<string> {
  const { body } = await shared.send(`${shared.service.filesUrl}/v1/projects`);
  return `${shared.service.filesUrl}/v1/projects/${body.data[0].project_id}/keys`;
}

/** Creates a key with these tools; by default with the first key. */
async function createKey(tools: readonly string[] | null | undefined, maker?: string, scopes = ['plugins', 'admin']) {
  return await post(await keysUrl(), { name: 'limited', scopes, tools }, maker);
}

const sum = { expression: '6*7' };
const allowed = ['calculator', 'time/convert_time'];
const names = ['calculator__evaluate', 'time__convert_time'];

test('[key-tools] a key runs only the plugins that it names, over every API that runs plugins', async () => {
  const created = await createKey(allowed);
  assert.deepEqual(created.body.data.tools, allowed);
  const { key } = created.body.data;
  const { pluginsUrl, filesUrl } = shared.service;
  for (const base of [pluginsUrl, `${filesUrl}/plugins`]) {
    const run = (named: object, headers = {}) =>
      post(`${base}/v1/execute`, { ...named, input_params: sum, credentials: {} }, key, headers);
    assert.equal((await run({ bundle_id: 'calculator', plugin_id: 'evaluate' })).status, 200);
    assert.equal((await run({ tool_name: 'calculator__evaluate' }, { Prefer: 'respond-async' })).status, 202);
    assert.equal((await post(`${base}/v1/bundles/calculator/plugins/evaluate/execute`, sum, key)).status, 200);
    const refused = [
      await run({ bundle_id: 'time', plugin_id: 'list_timezones' }),
      await run({ bundle_id: 'nothing', plugin_id: 'nothing' }),
      await run({ tool_name: 'slack__post_message' }),
      await run({ tool_name: 'slack__post_message' }, { Prefer: 'respond-async' }),
      await run({ tool_name: 'slack__post_message' }, { 'Idempotency-Key': 'once' }),
      await post(`${base}/v1/bundles/time/plugins/list_timezones/execute`, {}, key),
      await post(`${base}/v1/verify_credentials`, { bundle_id: 'slack', credentials: {} }, key),
    ];
    for (const { status, code, message } of refused) {
      assert.deepEqual([status, code], [404, 'OBJECT_NOT_FOUND'], message);
      assert.doesNotMatch(message, /Did you mean "slack/);
    }
    const verified = await post(`${base}/v1/verify_credentials`, { bundle_id: 'time', credentials: {} }, key);
    assert.equal(verified.status, 200);
  }
});

test('[key-tools] lists, searches and calls over MCP offer only the plugins of the key, at both addresses', async () => {
  const { key } = (await createKey(allowed)).body.data;
  for (const base of [shared.service.pluginsUrl, shared.service.filesUrl]) {
    const url = (query = '') => `${base}/mcp${query}`;
    const list = async (query = '') =>
      (await askMcp(url(query), key, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name);
    assert.deepEqual(await list(), names);
    assert.deepEqual(await list('?tools=all'), names);
    assert.deepEqual(await list('?bundles=calculator'), names.slice(0, 1));
    assert.deepEqual(await list('/time'), ['convert_time']);
    assert.equal((await callTool(url(), key, 'calculator__evaluate', sum)).isError ?? false, false);
    for (const [query, name] of [
      ['', 'slack__post_message'],
      ['?tools=all', 'time__list_timezones'],
      ['/time', 'list_timezones'],
    ]) {
      const { body } = await askMcp(url(query), key, 'tools/call', { name, arguments: {} });
      assert.match(body.error.message, /^Unknown tool/);
    }
    assert.equal((await askMcp(url('/slack'), key, 'tools/list')).status, 404);
    assert.equal((await askMcp(url('?bundles=slack'), key, 'tools/list')).status, 422);
  }
});

test('[key-tools] a key may name plugins before they are installed, which permits nothing until then', async () => {
  const created = await createKey(['calculater', 'time/convert_tmie']);
  assert.equal(created.status, 200);
  const { key } = created.body.data;
  const url = `${shared.service.pluginsUrl}/mcp?tools=all`;
  assert.deepEqual((await askMcp(url, key, 'tools/list')).body.result.tools, []);
  const { body } = await askMcp(url, key, 'tools/call', { name: 'calculator__evaluate', arguments: sum });
  assert.match(body.error.message, /^Unknown tool/);
});

test('the limit tools_of_key accepts exactly as many names and refuses one more, and names of another form', async () => {
  const most = 200;
  const list = (count: number) => Array.from({ length: count }, (_, index) => `bundle_${index}`);
  assert.equal((await createKey(list(most))).status, 200);
  for (const tools of [list(most + 1), [], [''], ['Slack'], ['a/b/c'], ['a__b/'], [7], 'slack', ['x'.repeat(65)]]) {
    assert.equal((await createKey(tools as string[])).status, 422, String(tools).slice(0, 40));
  }
});

test('[key-tools] a key cannot create or rotate a key with more tools than its own, and the log names the tools', async () => {
  const { key, key_id } = (await createKey(allowed)).body.data;
  assert.deepEqual((await createKey(null, key)).body.data.tools, allowed);
  assert.deepEqual((await createKey(undefined, key)).body.data.tools, allowed);
  assert.deepEqual((await createKey(['calculator/evaluate'], key)).body.data.tools, ['calculator/evaluate']);
  for (const tools of [['slack'], ['time'], ['calculator', 'time/list_timezones']]) {
    const { status, message } = await createKey(tools, key);
    assert.equal(status, 403);
    assert.match(message, /is limited by its `tools` and cannot grant "/);
  }
  const free = (await createKey(null)).body.data;
  const url = await keysUrl();
  assert.equal(free.tools, null);
  assert.equal((await post(`${url}/${free.key_id}/rotate`, {}, key)).status, 403);
  const rotated = await post(`${url}/${key_id}/rotate`, {}, key);
  assert.deepEqual(rotated.body.data.tools, allowed);
  const log = shared.service.log;
  await shared.service.stop();
  assert.match(log(), /"tools":\["calculator","time\/convert_time"\]/);
});

test('[key-tools] the command creates a key with tools and lists them', async () => {
  const { service } = shared;
  const options = ['--name', 'agent', '--tools', 'calculator,time/convert_time'];
  const created = await runCommand(service, 'key', 'create', 'default', ...options);
  assert.equal(created.code, 0, created.errors);
  const { output } = await runCommand(service, 'key', 'list', '--json');
  const listed = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(listed.some(({ name, tools }) => name === 'agent' && String(tools) === String(allowed)));
  const wrong = await runCommand(service, 'key', 'create', 'default', '--name', 'x', '--tools', 'Slack!');
  assert.match(wrong.errors, /names such as slack or slack\/post_message/);
});
