import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../metrics.ts';
import { createRequestMetrics, maxRequestKinds } from './request-metrics.ts';

test('the limit request_metric_series counts exactly as many kinds of answers apart and all others together', async () => {
  const registry = createMetrics();
  const metrics = createRequestMetrics(registry);
  const record = (route: string) => metrics.record({ address: 'files', method: 'GET', route, status: 200 }, 0.01);
  const counted = async () => {
    const { values } = (await registry.getSingleMetric('quartermaster_http_requests_total')?.get()) ?? { values: [] };
    return values.map(({ labels: { route }, value }) => [route, value]);
  };
  for (let count = 1; count <= maxRequestKinds; count += 1) record(`/${count}`);
  const apart = await counted();
  assert.deepEqual([apart.length, apart.at(-1)], [maxRequestKinds, [`/${maxRequestKinds}`, 1]]);
  for (const route of ['/one', '/two']) record(route);
  assert.deepEqual(await counted(), [...apart, ['other', 2]]);
});
