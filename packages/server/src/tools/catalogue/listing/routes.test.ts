import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRequestMetrics } from '../../../platform/http/request-metrics.ts';
import { createTestApp } from '../../../platform/http/testing/test-app.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { everyPermission, permissionsWithoutKey } from '../../../platform/permissions.ts';
import { Problem } from '../../../platform/problem.ts';
import { registerCatalogueMetrics } from '../load/metrics.ts';
import { createFolder, type Files, goodFiles, iconSvg, load } from '../load/testing/bundle-folder.suite.ts';
import { catalogueRoutes } from './routes.ts';

/** The guard of this test accepts one key. The address has its own tests of the real check. */
const headers = { authorization: 'Bearer key' };

async function openApp(t: TestContext, files: Files = goodFiles) {
  const catalogue = await load(await createFolder(t, files));
  const registry = createMetrics();
  const app = createTestApp({ address: 'plugins', requestMetrics: createRequestMetrics(registry) });
  catalogueRoutes(app, {
    catalogue: () => catalogue,
    // The search of a service has tests of its own. This one finds the plugins whose id contains the question.
    search: {
      find: async (question) =>
        [...catalogue.bundles.values()]
          .flatMap(({ plugins }) => [...plugins.values()])
          .filter(({ id }) => id.includes(question)),
    },
    permissionsOf: ({ headers: sent }) => (sent['x-scope'] === 'files' ? everyPermission : permissionsWithoutKey),
    onRequest: async (request) => {
      if (request.headers.authorization !== headers.authorization) {
        throw new Problem('APIKEY_VALIDATION_FAILED', 'The key is missing.');
      }
    },
  });
  registerCatalogueMetrics(registry, () => catalogue);
  t.after(() => app.close());
  const get = (url: string, more: Record<string, string> = {}) =>
    app.inject({ method: 'GET', url, headers: { ...headers, ...more } });
  return { app, get, registry };
}

const paths =
  '/v1/bundles /v1/bundles/weather /v1/plugins /v1/plugins?bundle_id=weather /v1/plugins/weather/get_weather /v1/bundles/weather/icon'.split(
    ' ',
  );

test('GET /v1/bundles lists all bundles by id in the list envelope', async (t) => {
  const { get } = await openApp(t);
  const answer = await get('/v1/bundles');
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  const { data, ...envelope } = answer.json();
  assert.deepEqual(envelope, { status: 'success', fetched_count: 2, has_more: false });
  assert.deepEqual(data[1], {
    object: 'Bundle',
    bundle_id: 'weather',
    name: 'Weather',
    description: 'Weather of today.',
    provider: 'Example',
    developer: 'Quartermaster',
    credentials_schema: {
      type: 'object',
      required: ['WEATHER_KEY'],
      properties: {
        WEATHER_KEY: { type: 'string', minLength: 4, description: 'A key.', 'x-secret': true },
        ACCOUNT: { type: 'string', description: 'The account.' },
      },
    },
    hosts: ['api.example.com'],
    hosts_by: 'bundle',
    num_plugins: 1,
    version: '1.0.0',
    icon_url: 'http://127.0.0.1:8081/v1/bundles/weather/icon',
    categories: [],
    isolation: 'none',
    unavailable: null,
    verified: null,
    retired: null,
  });
  const { bundle_id, isolation, icon_url } = data[0];
  assert.deepEqual({ bundle_id, isolation, icon_url }, { bundle_id: 'sums', isolation: 'process', icon_url: null });
});

test('both ways of listing the plugins of a bundle return the same records, and that of one plugin is among them', async (t) => {
  const { get } = await openApp(t);
  const byPath = (await get('/v1/bundles/weather')).json();
  const byQuery = (await get('/v1/plugins?bundle_id=weather')).json();
  assert.deepEqual(byPath.data, byQuery.data);
  assert.equal(byPath.bundle.bundle_id, 'weather');
  assert.equal(byPath.fetched_count, 1);
  const one = (await get('/v1/plugins/weather/get_weather')).json();
  assert.deepEqual(one, { status: 'success', data: byPath.data[0] });
  assert.deepEqual(Object.keys(one.data), [
    ...['object', 'bundle_id', 'plugin_id', 'name', 'description', 'input_schema', 'output_schema'],
    ...['effects', 'idempotent'],
  ]);
  assert.deepEqual(one.data.input_schema.required, ['lat', 'lon']);
});

test('a category lists the bundles that have it, also of those that match a question', async (t) => {
  const yaml = `${goodFiles['weather/bundle.yaml']}\ncategories: [information, utilities]`;
  const { get } = await openApp(t, { ...goodFiles, 'weather/bundle.yaml': yaml });
  const listed = async (query: string) =>
    (await get(`/v1/bundles?${query}`)).json().data.map((bundle: { bundle_id: string }) => bundle.bundle_id);
  assert.deepEqual(await listed('category=information'), ['weather']);
  assert.deepEqual(await listed('category=information&limit=1&lang=zh'), ['weather']);
  assert.deepEqual(await listed('category=commerce'), []);
  assert.deepEqual(await listed('category=information&q=weather'), ['weather']);
  assert.deepEqual(await listed('category=commerce&q=weather'), []);
  assert.equal((await get('/v1/bundles?category=sums')).statusCode, 422);
  assert.deepEqual((await get('/v1/bundles/weather')).json().bundle.categories, ['information', 'utilities']);
});

test('a retired bundle is listed on request only, and says everywhere else what to use instead', async (t) => {
  const retirement = { date: '2026-08-31', reason: 'Its API ended.', successor: 'Use the bundle sums.' };
  const verified = { against: 'its OpenAPI document', date: '2026-05-04' };
  const retired = `\nretired: ${JSON.stringify(retirement)}\napi: ${JSON.stringify({ verified })}`;
  const yaml = `${goodFiles['weather/bundle.yaml']}${retired}`;
  const { get } = await openApp(t, { ...goodFiles, 'weather/bundle.yaml': yaml });
  const listed = async (path: string) =>
    (await get(path)).json().data.map((bundle: { bundle_id: string }) => bundle.bundle_id);
  assert.deepEqual(await listed('/v1/bundles'), ['sums']);
  assert.deepEqual(await listed('/v1/bundles?limit=10'), ['sums']);
  assert.deepEqual(await listed('/v1/bundles?retired=true'), ['sums', 'weather']);
  assert.deepEqual(await listed('/v1/bundles?retired=true&limit=10'), ['sums', 'weather']);
  assert.deepEqual(await listed('/v1/plugins'), ['sums']);
  const detail = (await get('/v1/bundles/weather')).json();
  assert.deepEqual([detail.data, detail.bundle.retired, detail.bundle.verified], [[], retirement, verified]);
  const plugins = '/v1/plugins?bundle_id=weather';
  for (const path of [
    plugins,
    `${plugins}&limit=1`,
    '/v1/plugins/weather/get_weather',
    '/v1/bundles/weather/openapi.json',
  ]) {
    const answer = await get(path);
    assert.equal(answer.statusCode, 404, path);
    const { message } = answer.json().error;
    assert.match(message, /"weather" was retired on 2026-08-31\. Its API ended\. Use the bundle sums\.$/);
  }
});

test('limit, after and before select a page of either list, and without them a list is complete', async (t) => {
  const { get } = await openApp(t);
  const read = async (path: string) => {
    const { data, ...envelope } = (await get(path)).json();
    return [data.map((item: { bundle_id: string }) => item.bundle_id), envelope.fetched_count, envelope.has_more];
  };
  for (const [path, last, first] of [
    ['/v1/bundles', 'weather', 'sums'],
    ['/v1/plugins', 'weather/get_weather', 'sums/add'],
  ]) {
    assert.deepEqual(await read(`${path}`), [['sums', 'weather'], 2, false]);
    assert.deepEqual(await read(`${path}?limit=1`), [['sums'], 1, true]);
    assert.deepEqual(await read(`${path}?limit=1&after=${first}`), [['weather'], 1, false]);
    assert.deepEqual(await read(`${path}?after=${last}`), [[], 0, false]);
    assert.deepEqual(await read(`${path}?before=${last}`), [['sums'], 1, false]);
    assert.deepEqual(await read(`${path}?q=get`), [['weather'], 1, false]);
    assert.deepEqual(await read(`${path}?q=nothing`), [[], 0, false]);
    for (const wrong of `limit=0 | limit=101 | limit=x | q= | q=${'x'.repeat(501)} | after= | after=${first}&before=${last} | after=No | before=${path === '/v1/bundles' ? 'a/b' : 'a'}`.split(
      ' | ',
    )) {
      assert.equal((await get(`${path}?${wrong}`)).statusCode, 422, wrong);
    }
    // A cursor that is not listed is a place in the order of ids, but not in that of ranks.
    const suffix = path === '/v1/bundles' ? '' : '/zz';
    assert.deepEqual(await read(`${path}?after=aa${suffix}&limit=1`), [['sums'], 1, true]);
    assert.deepEqual(await read(`${path}?after=sums_b${suffix}`), [['weather'], 1, false]);
    assert.deepEqual(await read(`${path}?before=sums_b${suffix}`), [['sums'], 1, false]);
    assert.deepEqual(await read(`${path}?after=zz${suffix}`), [[], 0, false]);
    assert.deepEqual(await read(`${path}?before=zz${suffix}&limit=1`), [['weather'], 1, true]);
    const unknown = await get(`${path}?q=get&after=nope${suffix}`);
    assert.equal(unknown.statusCode, 404);
    assert.match(unknown.json().error.message, /with the id "nope(\/zz)?" was found/);
    const page = await get(`${path}?limit=1`);
    const again = await get(`${path}?limit=1`, { 'if-none-match': String(page.headers.etag) });
    assert.equal(again.statusCode, 304);
  }
  const { data } = (await get('/v1/plugins?format=openai&limit=1&q=a&bundle_id=weather')).json();
  assert.equal(data[0].definition.function.name, 'weather__get_weather');
  assert.equal((await get('/v1/plugins?limit=1&bundle_id=nope')).statusCode, 404);
});

test('an unknown bundle or plugin results in 404 with its id', async (t) => {
  const { get } = await openApp(t);
  const list = 'GET /v1/bundles/{bundle_id} lists its plugins.';
  const missing: Readonly<Record<string, string>> = {
    '/v1/bundles/nope': 'No bundle with the id "nope" is installed. GET /v1/bundles lists the bundles.',
    '/v1/plugins?bundle_id=nope': 'No bundle with the id "nope" is installed. GET /v1/bundles lists the bundles.',
    '/v1/plugins?bundle_id=': 'No bundle with the id "" is installed. GET /v1/bundles lists the bundles.',
    '/v1/plugins/weather/nope': `The bundle "weather" has no plugin with the id "nope". ${list}`,
    '/v1/plugins/weather/get_wether': `The bundle "weather" has no plugin with the id "get_wether". Did you mean "get_weather"? ${list}`,
    '/v1/plugins/__proto__/constructor':
      'No bundle with the id "__proto__" is installed. GET /v1/bundles lists the bundles.',
    '/v1/bundles/sums/icon': 'The bundle "sums" has no icon, or is not installed.',
  };
  for (const [path, message] of Object.entries(missing)) {
    const answer = await get(path);
    assert.equal(answer.statusCode, 404, path);
    assert.equal(answer.json().error.code, 'OBJECT_NOT_FOUND');
    assert.equal(answer.json().error.message, message);
    assert.equal(answer.headers.etag, undefined);
  }
});

test('each response has a strong ETag, and a client that sends it gets 304 without a body', async (t) => {
  const { get } = await openApp(t);
  for (const path of paths) {
    const etag = String((await get(path)).headers.etag);
    assert.match(etag, /^"[\w-]{43}"$/, path);
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': sent });
      assert.equal(again.statusCode, 304, path);
      assert.equal(again.body, '');
      assert.equal(again.headers.etag, etag);
    }
    assert.equal((await get(path, { 'if-none-match': '"other"' })).statusCode, 200);
  }
});

test('the ETag differs by language, and equal bytes have equal tags', async (t) => {
  const { get } = await openApp(t);
  const english = await get('/v1/bundles');
  const chinese = await get('/v1/bundles?lang=zh-CN');
  assert.notEqual(english.headers.etag, chinese.headers.etag);
  assert.equal(chinese.json().data[1].name, '天气');
  const unknown = await get('/v1/bundles?lang=xx');
  assert.equal(unknown.headers.etag, english.headers.etag);
  assert.equal(unknown.body, english.body);
});

test('HEAD returns the same headers as GET, without the body', async (t) => {
  const { app, get } = await openApp(t);
  const head = await app.inject({ method: 'HEAD', url: '/v1/bundles', headers });
  const full = await get('/v1/bundles');
  assert.equal(head.statusCode, 200);
  assert.equal(head.body, '');
  assert.equal(head.headers['content-length'], full.headers['content-length']);
});

test('an unsupported format results in 422 with a list of the supported ones', async (t) => {
  const { get } = await openApp(t);
  assert.equal((await get('/v1/plugins?format=json_schema')).statusCode, 200);
  const answer = await get('/v1/plugins?format=soap');
  assert.equal(answer.statusCode, 422);
  assert.equal(
    answer.json().error.message,
    'query/format must be one of "json_schema", "openai", "openai-strict", "openai-responses", "anthropic", "gemini", "mcp", "taskingai"; received "soap".',
  );
});

test('an icon cannot run scripts in the origin of the service', async (t) => {
  const { get } = await openApp(t);
  const answer = await get('/v1/bundles/weather/icon');
  assert.equal(answer.body, iconSvg);
  assert.equal(answer.headers['content-type'], 'image/svg+xml');
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.match(String(answer.headers['content-security-policy']), /^sandbox; default-src 'none'/);
});

test('each address requires a key if it is configured to', async (t) => {
  const { app } = await openApp(t);
  for (const url of paths) {
    const answer = await app.inject({ method: 'GET', url });
    assert.equal(answer.statusCode, 401, url);
    assert.equal(answer.headers.etag, undefined);
  }
});

test('a metric counts bundles and plugins that could not be loaded', async (t) => {
  const { registry } = await openApp(t, { ...goodFiles, 'broken/bundle.yaml': 'id: [' });
  // The broken bundle is no YAML, and it has no plugin.
  assert.match(await registry.metrics(), /^quartermaster_bundle_failures 2$/m);
});

test('each format of the plugins is a list with an ETag, in the requested language, and reports what the format cannot express', async (t) => {
  const { get } = await openApp(t);
  for (const format of ['openai', 'openai-strict', 'openai-responses', 'anthropic', 'gemini', 'mcp']) {
    const answer = await get(`/v1/plugins?bundle_id=weather&format=${format}&lang=zh-CN`);
    assert.equal(answer.statusCode, 200, format);
    const { data, ...envelope } = answer.json();
    assert.deepEqual(envelope, { status: 'success', fetched_count: 1, has_more: false });
    const { definition, losses, ...rest } = data[0];
    assert.deepEqual(rest, { object: 'PluginDefinition', bundle_id: 'weather', plugin_id: 'get_weather', format });
    assert.ok(Array.isArray(losses));
    assert.match(JSON.stringify(definition), /weather__get_weather.*一个地方的天气/);
    const again = await get(`/v1/plugins?bundle_id=weather&format=${format}&lang=zh-CN`, {
      'if-none-match': String(answer.headers.etag),
    });
    assert.equal(again.statusCode, 304);
  }
  const all = (await get('/v1/plugins?format=taskingai')).json().data;
  assert.deepEqual(
    all.map(({ object, bundle_id }: { object: string; bundle_id: string }) => [object, bundle_id]),
    [
      ['Plugin', 'sums'],
      ['Plugin', 'weather'],
    ],
  );
  assert.deepEqual(all[0].input_schema.a, { type: 'number', name: 'a', description: 'First.', required: true });
  assert.equal((await get('/v1/plugins?format=openai&bundle_id=nope')).statusCode, 404);
});

test('a bundle is an OpenAPI document with an operation for each plugin and one scheme for its credentials', async (t) => {
  const { get } = await openApp(t);
  const answer = await get('/v1/bundles/weather/openapi.json');
  assert.equal(answer.statusCode, 200);
  const document = answer.json();
  const { post } = document.paths['/v1/bundles/weather/plugins/get_weather/execute'];
  assert.equal(post.operationId, 'get_weather');
  assert.equal(post['x-openai-isConsequential'], false);
  assert.deepEqual(post.requestBody.content['application/json'].schema.required, ['lat', 'lon']);
  assert.deepEqual(Object.keys(document.components.securitySchemes), ['pluginCredentials']);
  assert.equal(document.servers[0].url, 'http://127.0.0.1:8081');
  assert.equal((await get('/v1/bundles/sums/openapi.json')).json().components.securitySchemes, undefined);
  assert.equal((await get('/v1/bundles/nope/openapi.json')).statusCode, 404);
});
