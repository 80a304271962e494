import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSample, type Sample } from './metric-history.ts';

const start = 1_800_000_000_000;
const requests = 'quartermaster_http_requests_total';

const sampleAt = (at: number): Sample => ({
  at,
  measures: [
    { name: requests, labels: { route: '/a', status: '200' }, value: 3 },
    { name: requests, labels: { route: '/b', status: '204' }, value: 4 },
    { name: requests, labels: { route: '/a', status: '500' }, value: 1 },
    { name: 'quartermaster_disk_free_bytes', labels: {}, value: 9 },
  ],
});

test('the newest sample is whole, and earlier ones hold the sums that the charts show', () => {
  const [first, second] = addSample([sampleAt(start)], sampleAt(start + 5000));
  assert.deepEqual(second, sampleAt(start + 5000));
  assert.deepEqual(first?.measures, [
    { name: requests, labels: { status: '2' }, value: 7 },
    { name: requests, labels: { status: '5' }, value: 1 },
  ]);
});

test('of samples older than the newest sixty, one a minute stays, and 240 in all', () => {
  let samples: readonly Sample[] = [];
  for (let n = 0; n < 12 * 60 * 4; n += 1) samples = addSample(samples, sampleAt(start + n * 5000));
  assert.equal(samples.length, 240);
  const ages = samples.map(({ at }) => ((samples.at(-1)?.at ?? 0) - at) / 1000);
  assert.deepEqual(ages.slice(-3), [10, 5, 0]);
  const gaps = ages.slice(1, 170).map((age, at) => (ages[at] ?? 0) - age);
  assert.deepEqual([...new Set(gaps)], [60]);
  assert.ok((ages[0] ?? 0) > 10_000, `${ages[0]} seconds`);
});
