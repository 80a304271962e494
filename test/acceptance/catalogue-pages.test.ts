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
