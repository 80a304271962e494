import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import type { Outcome } from '../../packages/server/src/tools/execution/outcome.ts';
import { readAbsentPlugins } from '../../scripts/reference/bundles-page.ts';
import { answerFrom, answersOf, bundleFile, bundlesFolder, openWorld } from './bundle-fixture.ts';
import { assertSent, documented } from './documented-calls.ts';

const world = await openWorld();
after(() => world.close());
const table: Readonly<Record<string, readonly string[]>> = parse(
  readFileSync(join(import.meta.dirname, 'table.yaml'), 'utf8'),
);
const never = new AbortController().signal;
const bundles = [...world.catalogue.bundles.values()];
const plugins = bundles.flatMap((bundle) => [...bundle.plugins.values()]);
/**
 * Plugins whose requests cannot be declared: a nested message, one call after another, or a host and method chosen by
 * the caller.
 */
const codeThatCallsOut = new Set([
  'send_gmail',
  'biomedical_search',
  'http_get',
  'http_send',
  'write_file',
  'get_message',
  'create_draft',
  'search_messages',
  'upload_file',
]);
const networked = plugins.filter(({ manifest }) => manifest.request !== undefined || codeThatCallsOut.has(manifest.id));

test('every bundle loads without errors and warnings', () => {
  assert.deepEqual(world.catalogue.failures, []);
  const folders = readdirSync(bundlesFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(bundles.map(({ id }) => id).sort(), folders.map(({ name }) => name).sort());
  const unsorted = bundles.filter(({ manifest: { categories = [] } }) => categories.length === 0);
  assert.deepEqual(unsorted, [], 'bundles without a category');
});

test('each plugin of the table exists with its parameters, or the page about bundles names its replacement', () => {
  const absent = new Set(readAbsentPlugins().flatMap((entry) => entry.plugins));
  for (const [name, parameters] of Object.entries(table)) {
    const [bundleId = '', pluginId = ''] = name.split('/');
    const plugin = world.catalogue.findPlugin(bundleId, pluginId);
    assert.equal(plugin === undefined, absent.has(name), name);
    const names = Object.keys(Reflect.get(plugin?.manifest.input_schema ?? {}, 'properties') ?? {});
    if (plugin !== undefined)
      for (const parameter of parameters) assert.ok(names.includes(parameter), `${name} ${parameter}`);
  }
  for (const name of readAbsentPlugins().flatMap(({ instead = [] }) => instead)) {
    const [bundleId = '', pluginId = ''] = name.split('/');
    assert.ok(
      world.catalogue.findPlugin(bundleId, pluginId) !== undefined,
      `${name} is said to stand in, and is not there`,
    );
  }
});

test('plugins that call an upstream run no code, and handlers make no calls, except those whose requests cannot be declared', () => {
  for (const { bundle, id, manifest } of plugins) {
    if (codeThatCallsOut.has(id)) continue;
    assert.equal(manifest.handler === undefined, manifest.request !== undefined, `${bundle.id}/${id}`);
    if (manifest.handler !== undefined) assert.deepEqual(bundle.hosts, [], bundle.id);
  }
});

for (const bundle of bundles) {
  test(`${bundle.id} is described in two languages, with an icon and the facts about its API`, () => {
    const { name, description, icon, api } = bundle.manifest;
    for (const { manifest, id } of bundle.plugins.values()) {
      for (const text of [manifest.name, manifest.description]) assert.deepEqual(Object.keys(text), ['en', 'zh']);
      assert.ok((manifest.examples ?? []).length > 0, `${id} has no example`);
    }
    for (const text of [name, description]) assert.deepEqual(Object.keys(text), ['en', 'zh']);
    assert.ok(statSync(bundleFile(bundle.id, icon ?? 'no icon')).size <= 2048);
    if (bundle.callsOut) {
      assert.ok(api?.documentation !== undefined && api.as_of !== undefined && api.payloads !== undefined);
    }
  });
}

for (const plugin of plugins) {
  const { bundle, id, manifest } = plugin;
  for (const [index, example] of (manifest.examples ?? []).entries()) {
    test(`${bundle.id}/${id} does what its example ${index + 1} shows`, async () => {
      if (example.upstream !== undefined) world.willAnswer(...answersOf(bundle.id, example.upstream));
      const outcome = await execute(bundle.id, id, example.input);
      assert.ok(outcome.kind === 'succeeded', JSON.stringify(outcome));
      assert.deepEqual(outcome.violations, []);
      if (example.output !== undefined) assert.deepEqual(outcome.output, example.output);
      if (example.upstream !== undefined) {
        const request = documented[bundle.id]?.requests[id]?.[index];
        assert.ok(request !== undefined && example.output !== undefined);
        assertSent(world.received, request);
      }
    });
  }
}

for (const { bundle, id, manifest } of networked) {
  // For an API that only the caller knows, every status is a valid response.
  if (bundle.hostsBy === 'operator') continue;
  const input = manifest.examples?.[0]?.input ?? {};
  for (const [what, status, contentType, kind] of [
    ['a page of a proxy', 502, 'text/html', 'upstream_failed'],
    ['a page instead of data', 200, 'text/html', 'upstream_failed'],
    ['too many requests', 429, 'application/json', 'upstream_rate_limited'],
  ] as const) {
    // A page is a valid response where text is expected, and a handler reports a page as unreadable.
    if (status === 200 && (manifest.handler !== undefined || manifest.response?.format === 'text')) continue;
    test(`${bundle.id}/${id}: ${what} is the upstream's failure, with its status`, async () => {
      const body = contentType === 'text/html' ? '<!doctype html><p>Bad & gone' : '{}';
      world.willAnswer({ status, contentType, body });
      const outcome = await execute(bundle.id, id, input);
      assert.ok(outcome.kind === kind, JSON.stringify(outcome));
      assert.equal(outcome.upstreamStatus, status);
      // The upstream allows an immediate retry. The broker retries twice, unless a repetition could have another effect or
      // is paid again (ADR 0044).
      const isRepeatable = manifest.idempotent || (manifest.effects !== 'read' && world.received[0]?.method === 'GET');
      if (status !== 200) assert.equal(world.received.length, isRepeatable ? 3 : 1);
    });
  }
}

test('each bundle with credentials has a verification that the documentation describes', () => {
  for (const { id, manifest, secretNames, hostsBy } of bundles) {
    const { credentials = {}, verify: verification } = documented[id] ?? {};
    const properties: unknown = Reflect.get(manifest.credentials_schema ?? {}, 'properties');
    assert.equal(manifest.verify === undefined, verification === undefined, id);
    // When the operator chooses the hosts, neither the required credentials nor their verification are known in
    // advance.
    if (manifest.credentials_schema === undefined || hostsBy === 'operator') continue;
    // An access token of a connection replaces the credentials that people enter.
    const isEntered = (name: string) => name in credentials || name !== manifest.oauth?.credential;
    assert.deepEqual(Object.keys(Object(properties)).filter(isEntered).sort(), Object.keys(credentials).sort(), id);
    assert.ok(verification !== undefined, `${id} cannot be verified`);
    assert.ok(secretNames.size > 0, `${id} has no secret`);
  }
});

for (const [bundleId, { verify: verification }] of Object.entries(documented)) {
  if (verification === undefined) continue;
  test(`${bundleId} verifies valid credentials with the documented call`, async () => {
    world.willAnswer(answerFrom(bundleId, verification.accepted, 200));
    const outcome = await verify(bundleId);
    assert.equal(outcome.kind, 'succeeded', JSON.stringify(outcome));
    assertSent(world.received, verification);
  });

  test(`${bundleId} recognises the response to invalid credentials, in the verification and in every plugin`, async () => {
    world.willAnswer(answerFrom(bundleId, verification.refused, verification.status));
    const outcomes = [await verify(bundleId)];
    for (const { id, manifest } of networked.filter(({ bundle }) => bundle.id === bundleId)) {
      outcomes.push(await execute(bundleId, id, manifest.examples?.[0]?.input ?? {}));
    }
    assert.ok(outcomes.length > 1);
    for (const outcome of outcomes) {
      assert.ok(outcome.kind === 'credentials_rejected', JSON.stringify(outcome));
      assert.equal(outcome.upstreamStatus, verification.status);
    }
  });

  const needed: unknown = Reflect.get(
    world.catalogue.findBundle(bundleId)?.manifest.credentials_schema ?? {},
    'required',
  );
  if (needed === undefined) continue;
  test(`${bundleId} refuses to run without its credentials`, async () => {
    world.willAnswer(answerFrom(bundleId, verification.accepted, 200));
    const request = { bundle_id: bundleId, credentials: {} };
    await assert.rejects(world.executor.verifyCredentials(request, never), { code: 'REQUEST_VALIDATION_ERROR' });
    assert.deepEqual(world.received, []);
  });
}

test('omitted parameters are not sent', async () => {
  world.willAnswer(answerFrom('github', 'fixtures/search.json', 200));
  await execute('github', 'search_repositories', { query: 'a b&c=d/#?' });
  assert.deepEqual(Object.fromEntries(world.received[0]?.query ?? []), {
    ...{ q: 'a b&c=d/#?', order: 'desc', per_page: '10', page: '1' },
  });
});

test('forecasts contain the requested number of days and hours, or all that exist if fewer exist', async () => {
  const place = { lat: 33.44, lon: -94.04 };
  const lengthOf = async (pluginId: string, input: Record<string, unknown>) => {
    const outcome = await execute('open_weather', pluginId, { ...place, ...input });
    assert.ok(outcome.kind === 'succeeded', JSON.stringify(outcome));
    return (outcome.output as { forecast: unknown[] }).forecast.length; // the schema requires it
  };
  world.willAnswer(answerFrom('open_weather', 'fixtures/daily.json', 200));
  assert.deepEqual(
    [await lengthOf('get_daily_forecast', { days: 1 }), await lengthOf('get_daily_forecast', { days: 8 })],
    [1, 3],
  );
  world.willAnswer(answerFrom('open_weather', 'fixtures/hourly.json', 200));
  assert.deepEqual(
    [await lengthOf('get_hourly_forecast', { hours: 1 }), await lengthOf('get_hourly_forecast', { hours: 48 })],
    [1, 3],
  );
});

test('a call of a retired bundle says what to use instead, and reaches no upstream', async () => {
  world.willAnswer({ status: 200, contentType: 'application/json', body: '{}' });
  const notice = {
    code: 'OBJECT_NOT_FOUND',
    message: /^The bundle "trip_advisor" was retired on 2026-08-31\. .*serper/,
  };
  await assert.rejects(execute('trip_advisor', 'search_location', { query: 'Paris' }), notice);
  await assert.rejects(verify('trip_advisor'), notice);
  assert.deepEqual(world.received, []);
});

test('invalid input never reaches an upstream', async () => {
  world.willAnswer({ status: 200, contentType: 'application/json', body: '{}' });
  for (const [bundleId, pluginId, input] of [
    ['open_weather', 'get_current_weather', { lat: 91, lon: 0 }],
    ['open_weather', 'get_daily_forecast', { lat: 0, lon: 0, days: 9 }],
    ['open_weather', 'get_current_weather', { lat: '0', lon: 0 }],
    ['exchangerate_api', 'list_exchange_rates', { base_currency: 'USD/../..' }],
    ['wikipedia', 'wikipedia_search', { q: '' }],
    ['wikipedia', 'wikipedia_search', { q: 'earth', limit: 101 }],
    ['github', 'search_repositories', { query: 'a', sort: 'size' }],
    ['google_search', 'web_search', { query: 'a', number: 11 }],
    ['stack_overflow', 'stack_overflow_search', { titel: 'typing error' }],
    ['arxiv_search', 'arxiv_search', { query: 'a', max_results: 1.5 }],
  ] as const) {
    await assert.rejects(execute(bundleId, pluginId, input), { code: 'REQUEST_VALIDATION_ERROR' }, pluginId);
  }
  assert.deepEqual(world.received, []);
});

test('the largest QR code fits within the limits of a run', async () => {
  const text = Array.from({ length: 2953 }, (_, at) => String.fromCharCode(97 + ((at * at * 7) % 26))).join('');
  const outcome = await execute('qr_code_generator', 'generate_qr_code', {
    ...{ text, error_correction: 'L', scale: 20, margin: 20 },
  });
  assert.ok(outcome.kind === 'succeeded', JSON.stringify(outcome));
  assert.deepEqual(outcome.violations, []);
});

test('an input that a computing plugin refuses is reported as bad input', async () => {
  for (const [bundleId, pluginId, input] of [
    ['arithmetic', 'divide', { number_1: 1, number_2: 0 }],
    ['calculator', 'evaluate', { expression: '9**9**9' }],
    ['qr_code_generator', 'generate_qr_code', { text: 'é'.repeat(2000) }],
    ['random_number_generator', 'generate_random_integers', { min: 2, max: 1 }],
    ['time', 'get_time_by_timezone', { timezone: 'Nowhere' }],
  ] as const) {
    assert.equal((await execute(bundleId, pluginId, input)).kind, 'input_rejected', pluginId);
  }
});

async function execute(bundleId: string, pluginId: string, input: Record<string, unknown>): Promise<Outcome> {
  const named = { bundle_id: bundleId, plugin_id: pluginId };
  const request = { ...named, input_params: input, credentials: { ...documented[bundleId]?.credentials } };
  return (await world.executor.execute(request, never)).outcome;
}

async function verify(bundleId: string): Promise<Outcome> {
  const request = { bundle_id: bundleId, credentials: { ...documented[bundleId]?.credentials } };
  return (await world.executor.verifyCredentials(request, never)).outcome;
}
