import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { limitedService } from '../support/limits.ts';
import { type Answer, askMcp, callTool } from '../support/mcp-knowledge.ts';
import { startService } from '../support/service.ts';

const searchTools = ['search_tools', 'call_read_tool', 'call_tool'];
const shared = limitedService({
  settings: {
    BUNDLES: 'test/fixtures/mcp-behaviour',
    MCP_TOOLSETS: JSON.stringify({ office: ['time', 'arithmetic__add'] }),
  },
});
const url = (query = '') => `${shared.service.pluginsUrl}/mcp${query}`;

/** The names of the first page of a list. */
async function listNames(query: string): Promise<string[]> {
  const { body } = await askMcp(url(query), null, 'tools/list');
  return body.result.tools.map(({ name }: Answer) => name);
}

test('[mcp] the default list has at most 6,000 tokens, including the knowledge tools', async (t) => {
  for (const key of [null, shared.service.key]) {
    const { body } = await askMcp(url(), key, 'tools/list');
    assert.equal(body.result.tools.length, key === null ? 3 : 6);
    const tokens = countTokens(JSON.stringify(body.result));
    t.diagnostic(`${body.result.tools.length} tools, ${tokens} tokens`);
    assert.ok(tokens <= 6_000);
  }
});

test('[mcp] a call through another tool returns the same result and errors as the direct call', async () => {
  const { service } = shared;
  const inputs = [{ number_1: 1, number_2: 2 }, { number_1: 'one' }, { number_1: 1, number_2: 2, other: 3 }, {}];
  for (const input of inputs) {
    const direct = await callTool(url(), service.key, 'arithmetic__add', input);
    for (const name of ['call_read_tool', 'call_tool']) {
      const through = await callTool(url(), service.key, name, { name: 'arithmetic__add', arguments: input });
      assert.deepEqual({ ...through, _meta: null }, { ...direct, _meta: null });
    }
    assert.equal(direct.isError === true, input !== inputs[0]);
  }
});

test('[mcp] call_read_tool refuses plugins that write, and the error for a wrong call of a search tool names the reason', async () => {
  const { service } = shared;
  const calls: Array<[string, object, RegExp]> = [
    [
      'call_read_tool',
      { name: 'slack__post_message', arguments: {} },
      /may change something.*Call it with call_tool\./,
    ],
    ['call_tool', { name: 'slack__post' }, /Unknown tool: \\"slack__post\\"\. Find the name with search_tools\./],
    ['call_tool', { name: 'call_tool' }, /Unknown tool/],
    ['call_tool', {}, /arguments\/name is required/],
    ['call_tool', { name: 'arithmetic__add', arguments: '{}' }, /arguments\/arguments must be an object/],
    ['search_tools', {}, /arguments\/query is required/],
    ['search_tools', { query: 'news', cursor: 'x' }, /arguments\/cursor must be the `next_cursor`/],
  ];
  for (const [name, input, message] of calls) {
    const result = await callTool(url(), service.key, name, input);
    assert.equal(result.isError, true, name);
    assert.match(JSON.stringify(result.content), message);
  }
});

test('[mcp] a URL that names bundles, tools or a toolset offers exactly these, and an unknown name is an error', async () => {
  const time = ['time__convert_time', 'time__get_time_by_timezone', 'time__list_timezones'];
  assert.deepEqual(await listNames('?bundles=time'), time);
  assert.deepEqual(await listNames('?tools=arithmetic__add&tools=time__convert_time'), ['arithmetic__add', time[0]]);
  assert.deepEqual(await listNames('?toolset=office'), ['arithmetic__add', ...time]);
  assert.ok((await listNames('?tools=all')).length > 130);
  const outside = await askMcp(url('?bundles=time'), null, 'tools/call', { name: 'arithmetic__add', arguments: {} });
  assert.equal(outside.body.error.code, -32602);
  const wrong: Record<string, RegExp> = {
    '?bundles=tim': /query\/bundles must be .*; received "tim"/,
    '?tools=time__nothing': /query\/tools must be .*; received "time__nothing"/,
    '?toolset=home': /query\/toolset must be .*; received "home"/,
    '?bundle=time': /received the parameter "bundle"/,
    '/time?toolset=office': /query\/toolset must be absent/,
  };
  for (const [query, message] of Object.entries(wrong)) {
    const { status, body } = await askMcp(url(query), null, 'tools/list');
    assert.deepEqual([status, body.error.code], [422, 'REQUEST_VALIDATION_ERROR'], query);
    assert.match(body.error.message, message);
  }
});

test('[mcp] a tool that lacks credentials is found with the reason, and is available once they are sent or stored', async () => {
  const { service } = shared;
  const find = async (headers: Record<string, string>) => {
    const params = { name: 'search_tools', arguments: { query: 'watched__echo', limit: 1 } };
    const response = await fetch(url(), {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        ...{ Authorization: `Bearer ${service.key}`, ...headers },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const { result }: Answer = await response.json();
    return result.structuredContent.tools[0];
  };
  const missing = await find({});
  assert.deepEqual([missing.name, missing.available], ['watched__echo', false]);
  assert.match(missing.reason, /WATCHED_KEY/);
  assert.equal((await find({ 'X-Credential-WATCHED_KEY': 'canary-2c9f41ab77' })).available, true);
  assert.equal((await find({ 'X-Plugin-Profile': 'mine' })).available, false);
  const profile = { name: 'mine', bundle_id: 'watched', credentials: { WATCHED_KEY: 'canary-2c9f41ab77' } };
  const created = await shared.send(`${service.pluginsUrl}/v1/credential_profiles`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(profile),
  });
  assert.ok(created.status < 300, created.message);
  assert.equal((await find({ 'X-Plugin-Profile': 'mine' })).available, true);
});

test('[mcp] a search is counted by its outcome, and its question appears in no log', async () => {
  const { service } = shared;
  const question = 'a question about otters';
  for (const query of [question, 'xylophone', 'x'.repeat(501)])
    await callTool(url(), service.key, 'search_tools', { query });
  const response = await fetch(`${service.pluginsUrl}/metrics`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  const metrics = await response.text();
  assert.match(metrics, /quartermaster_tool_searches_total\{outcome="nothing"\} [1-9]/);
  assert.match(metrics, /quartermaster_tool_searches_total\{outcome="request_validation_error"\} [1-9]/);
  assert.equal(service.log().includes('otters'), false);
});

test('[mcp] a search for tools continues only its own question, and names the arguments that it ignores', async () => {
  const search = (input: object): Promise<Answer> => callTool(url(), shared.service.key, 'search_tools', input);
  const first = await search({ query: 'news', limit: 1, reason: 'curiosity', arguments: null });
  const cursor = first.structuredContent.next_cursor;
  assert.deepEqual(first._meta['quartermaster/ignored-arguments'], ['reason']);
  const next = await search({ query: 'news', limit: 1, cursor });
  assert.equal(next._meta?.['quartermaster/ignored-arguments'], undefined);
  assert.notEqual(next.structuredContent.tools[0].name, first.structuredContent.tools[0].name);
  const other = await search({ query: 'weather', limit: 1, cursor });
  assert.equal(other.isError, true);
  assert.match(JSON.stringify(other.content), /arguments\/cursor must be the `next_cursor`/);
});

const failsWith = async (input: object) =>
  (await callTool(url(), shared.service.key, 'search_tools', input)).isError === true;

test('the limit tool_search_query_characters accepts a question of exactly its length and refuses a longer one', async () => {
  const characters = 500;
  assert.equal(await failsWith({ query: 'x'.repeat(characters) }), false);
  assert.equal(await failsWith({ query: 'x'.repeat(characters + 1) }), true);
});

test('the limit tool_search_results accepts exactly as many tools of an answer and refuses one more', async () => {
  const results = 10;
  assert.equal(await failsWith({ query: 'news', limit: results }), false);
  assert.equal(await failsWith({ query: 'news', limit: results + 1 }), true);
});

test('[mcp] with the setting MCP_LIST_TOKENS the list contains the plugins that can work, and always all of a bundle endpoint', async (t) => {
  const { pluginsUrl } = await startService(t, { settings: { MCP_LIST_TOKENS: '1000000' } });
  const list = async (path: string) => {
    const { body } = await askMcp(pluginsUrl + path, null, 'tools/list');
    return body.result.tools.map(({ name }: Answer) => name);
  };
  const names = await list('/mcp');
  assert.ok(names.length > 20 && names.includes('arithmetic__add'));
  for (const name of [...searchTools, 'open_weather__get_current_weather']) assert.equal(names.includes(name), false);
  assert.equal((await list('/mcp/open_weather')).length, 5);
});
