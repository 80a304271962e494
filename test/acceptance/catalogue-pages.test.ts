import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Quartermaster } from '@quartermaster/client';
import { limitedService } from '../support/limits.ts';

const shared = limitedService();

/** Reads a path of the plugins address. */
const read = (path: string) => shared.send(`${shared.service.pluginsUrl}${path}`);

test('[catalogue] a question finds plugins and their bundles, best match first, and the log does not contain its words', async () => {
  const plugins = await read('/v1/plugins?q=otter%20weather%20forecast%20for%20each%20day&limit=3');
  const { data, ...envelope } = plugins.body;
  assert.deepEqual(envelope, { status: 'success', fetched_count: 3, has_more: true });
  assert.match(data[0].bundle_id, /weather/);
  const bundles = await read('/v1/bundles?q=weather%20forecast');
  assert.match(bundles.body.data[0].bundle_id, /weather/);
  const tools = await read('/v1/plugins?q=weather&format=anthropic&bundle_id=open_weather');
  assert.ok(tools.body.data.length > 0);
  for (const { definition } of tools.body.data) assert.match(definition.name, /^open_weather__/);
  assert.deepEqual((await read('/v1/plugins?q=xylophone')).body.data, []);
  assert.equal(shared.service.log().includes('otter'), false);
});

test('[catalogue] a question without words is refused, whether it is empty or has only spaces', async () => {
  for (const path of ['/v1/plugins', '/v1/bundles']) {
    for (const q of ['', '%20', '%09%20']) {
      const { status, body } = await read(`${path}?q=${q}`);
      assert.equal(status, 422, q);
      assert.match(body.error.message, /^query\/q must/);
    }
  }
});

test('[catalogue] the client reads every plugin and bundle once over pages, in the order of the whole list', async () => {
  const qm = new Quartermaster({ baseUrl: shared.service.filesUrl, apiKey: shared.service.key });
  const nameOf = ({ bundle_id, plugin_id }: { bundle_id: string; plugin_id: string }) => `${bundle_id}/${plugin_id}`;
  const whole = await qm.plugins.list();
  const paged = await Array.fromAsync(qm.plugins.pages({ limit: 50 }));
  assert.deepEqual(paged.map(nameOf), whole.map(nameOf));
  assert.ok(whole.length > 100);
  const bundles = await Array.fromAsync(qm.bundles.pages({ limit: 7 }));
  assert.deepEqual(bundles, await qm.bundles.list());
  const found = await Array.fromAsync(qm.plugins.pages({ q: 'search the web', limit: 5 }));
  assert.equal(new Set(found.map(nameOf)).size, found.length);
  const first = await qm.plugins.list({ q: 'search the web', limit: 5 });
  assert.deepEqual(found.slice(0, 5), first);
});

test('the limit catalogue_question_characters accepts a question of exactly its length and refuses a longer one', async () => {
  const characters = 500;
  for (const path of ['/v1/plugins', '/v1/bundles']) {
    assert.equal((await read(`${path}?q=${'x'.repeat(characters)}`)).status, 200);
    const { status, body } = await read(`${path}?q=${'x'.repeat(characters + 1)}`);
    assert.equal(status, 422);
    assert.match(body.error.message, /query\/q/);
  }
});

const run = { input_params: { expression: '6*7' }, credentials: {} };

const execute = (body: object, headers: Record<string, string> = {}) =>
  shared.send(`${shared.service.pluginsUrl}/v1/execute`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

test('[execute] the name with which a model calls a tool runs its plugin, in every format', async () => {
  for (const format of ['openai', 'openai-strict', 'openai-responses', 'anthropic', 'gemini', 'mcp']) {
    const url = `${shared.service.pluginsUrl}/v1/plugins?bundle_id=calculator&format=${format}`;
    const [{ definition }] = (await shared.send(url)).body.data;
    const { name: tool_name } = definition.function ?? definition;
    const { status, body } = await execute({ tool_name, ...run });
    assert.equal(status, 200, format);
    assert.deepEqual(body.data.data, { result: '42', value: 42 });
  }
  for (const named of [{ tool_name: 'calculator/evaluate' }, { tool_name: 'evaluate', bundle_id: 'calculator' }]) {
    assert.equal((await execute({ ...named, ...run })).status, 200);
  }
  const qm = new Quartermaster({ baseUrl: shared.service.filesUrl, apiKey: shared.service.key });
  assert.deepEqual((await qm.plugins.run('calculator__evaluate', run.input_params)).data, { result: '42', value: 42 });
  const started = await qm.plugins.start('calculator__evaluate', run.input_params);
  assert.equal(started.plugin_id, 'evaluate');
});

test('[execute] a tool name and the ids of its plugin are the same request under an Idempotency-Key', async () => {
  const headers = { 'Idempotency-Key': 'one-call' };
  const first = await execute({ tool_name: 'calculator__evaluate', ...run }, headers);
  const again = await execute({ bundle_id: 'calculator', plugin_id: 'evaluate', ...run }, headers);
  assert.equal(again.status, 200);
  assert.equal(again.body.data.run_id, first.body.data.run_id);
});

test('[execute] the error for an unknown, ambiguous or missing name says what to send', async () => {
  const wrong: Array<[object, number, RegExp]> = [
    [{ tool_name: 'calculator__evalute' }, 404, /Did you mean "calculator__evaluate"\?/],
    [{ tool_name: '__proto__' }, 404, /^No plugin has the tool name "__proto__"/],
    [{ tool_name: 'calculator__evaluate', bundle_id: 'time' }, 404, /No plugin has the tool name/],
    [
      { tool_name: 'calculator__evaluate', plugin_id: 'evaluate' },
      422,
      /body\/plugin_id must be absent beside tool_name/,
    ],
    [{ tool_name: 7 }, 422, /body\/tool_name must be a string/],
    [{ tool_name: 'x'.repeat(130) }, 422, /body\/tool_name/],
    [{ bundle_id: 'calculator' }, 422, /body\/plugin_id is required/],
    [{ plugin_id: 'evaluate' }, 422, /body\/bundle_id is required/],
    [{}, 422, /body\/bundle_id is required/],
  ];
  for (const [named, expected, message] of wrong) {
    const { status, message: text } = await execute({ ...named, ...run });
    assert.equal(status, expected, text);
    assert.match(text, message);
  }
});
