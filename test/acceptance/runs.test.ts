import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { send, serve } from '../support/http.ts';
import { type StartedService, startService } from '../support/service.ts';

const canary = 'canary-5e1f0c77-of-the-credentials';
const exchange = { bundle_id: 'exchangerate_api', plugin_id: 'get_exchange_rate' };
const credentials = { EXCHANGERATE_API_API_KEY: canary };

/** Starts a service that sends its calls of the exchange rate API to `listener`. */
async function startWithUpstream(t: TestContext, listener: RequestListener): Promise<StartedService> {
  const overrides = JSON.stringify({ 'https://v6.exchangerate-api.com': await serve(t, listener) });
  return await startService(t, { settings: { EGRESS_OVERRIDES: overrides, LOG_LEVEL: 'trace' } });
}

const call = (service: StartedService, path: string, { key, body: json }: { key?: string; body?: unknown } = {}) =>
  send(service.pluginsUrl + path, { key, json });

/** Shaped like the response in https://www.exchangerate-api.com/docs/pair-conversion-requests. */
const rate = JSON.stringify({ result: 'success', base_code: 'USD', target_code: 'CNY', conversion_rate: 7.1 });

test('[runs] the record of a run has its outcome, phases and outbound calls, but neither credentials nor inputs', async (t) => {
  const service = await startWithUpstream(t, (request, response) => {
    if (request.url?.includes('/EUR') === true) response.writeHead(500).end(`failed for ${canary}`);
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(rate);
  });
  const execute = (input_params: object) =>
    call(service, '/v1/execute', { body: { ...exchange, input_params, credentials } });
  const good = await execute({ from_currency: 'USD', to_currency: 'CNY' });
  assert.equal(good.status, 200, good.text);
  assert.equal((await execute({ from_currency: 'USD', to_currency: 'EUR' })).status, 502);

  const list = await call(service, '/v1/runs');
  assert.equal(list.status, 200, list.text);
  assert.deepEqual([list.body.fetched_count, list.body.has_more], [2, false]);
  const [failed, succeeded] = list.body.data;
  assert.equal(succeeded.run_id, good.body.data.run_id);
  const { run_id: _, created_timestamp, duration_ms, phases, ...summary } = succeeded;
  assert.deepEqual(summary, {
    ...{ object: 'Run', ...exchange, origin: 'execute', isolation: 'none', asynchronous: false },
    ...{ status: 'ended', outcome: 'succeeded', error_code: null, upstream_status: null },
    // The stub answers with fewer members than the API.
    output_violations: 2,
  });
  assert.equal(duration_ms, good.body.data.duration_ms);
  assert.ok(Math.abs(created_timestamp - Date.now()) < 60_000);
  const { queue_ms, start_ms, validate_ms, plugin_ms, upstream_ms } = phases;
  assert.ok(Math.abs(queue_ms + start_ms + validate_ms + plugin_ms + upstream_ms - duration_ms) < 0.01, list.text);
  assert.deepEqual(
    [failed.outcome, failed.error_code, failed.upstream_status],
    ['upstream_failed', 'PROVIDER_ERROR', 500],
  );

  const { body, text } = await call(service, `/v1/runs/${succeeded.run_id}`);
  const [{ ms, ...outbound }] = body.data.egress;
  const host = 'v6.exchangerate-api.com';
  assert.deepEqual(outbound, { host, method: 'GET', status: 200, result: 'answered', bytes: rate.length });
  assert.ok(ms > 0 && ms <= duration_ms);
  assert.deepEqual([body.data.input_params, body.data.result, body.data.error], [null, null, null]);
  const detail = await call(service, `/v1/runs/${failed.run_id}`);
  assert.deepEqual(detail.body.data.error, { code: 'PROVIDER_ERROR', message: null });
  for (const body of [list.text, text, detail.text]) assert.ok(!body.includes(canary) && !body.includes('CNY'), body);
});

test('[runs] runs survive a restart and can be filtered and paged, and a project sees only its own', async (t) => {
  const first = await startService(t);
  const add = (service: StartedService, key?: string) =>
    call(service, '/v1/execute', {
      body: { bundle_id: 'arithmetic', plugin_id: 'add', input_params: { number_1: 1, number_2: 2 }, credentials: {} },
      ...(key === undefined ? {} : { key }),
    });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift((await add(first, first.key)).body.data.run_id);
  const keyless = (await add(first)).body.data.run_id;
  assert.equal(await first.stop(), 0);
  const service = await startService(t, { folder: first.folder });
  const { key } = service;
  const page = async (query: string, as?: string) => {
    const { body } = await call(service, `/v1/runs?${query}`, as === undefined ? {} : { key: as });
    return [body.data.map((run: { run_id: string }) => run.run_id), body.has_more];
  };
  assert.deepEqual(await page('limit=2', key), [ids.slice(0, 2), true]);
  assert.deepEqual(await page(`limit=2&after=${ids[1]}`, key), [ids.slice(2, 4), true]);
  assert.deepEqual(await page('bundle_id=arithmetic&plugin_id=add&outcome=succeeded', key), [ids, false]);
  assert.deepEqual(await page('bundle_id=time', key), [[], false]);
  assert.deepEqual(await page('outcome=none', key), [[], false]);
  assert.deepEqual(await page(`since=${Date.now() + 1000}`, key), [[], false]);
  assert.deepEqual(await page(''), [[keyless], false]);
  assert.equal((await call(service, `/v1/runs/${keyless}`)).body.data.outcome, 'succeeded');
  for (const [id, as] of [
    [keyless, key],
    [ids[0], undefined],
  ] as const) {
    const answer = await call(service, `/v1/runs/${id}`, as === undefined ? {} : { key: as });
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'OBJECT_NOT_FOUND']);
  }
  for (const query of ['after=nonsense', `after=${ids[0]}&before=${ids[1]}`, 'outcome=well', 'limit=0', 'since=-1']) {
    assert.equal((await call(service, `/v1/runs?${query}`, { key })).status, 422, query);
  }
  assert.equal((await call(service, '/v1/runs', { key: 'qmk_nonsense' })).status, 401);
});
