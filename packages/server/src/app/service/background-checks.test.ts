import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../platform/testing/until.ts';
import { startS3Server } from '../../storage/s3/testing/s3-server.fixture.ts';
import { startBackgroundChecks } from './background-checks.ts';

async function openStorage(t: { after(end: () => unknown): void }) {
  const server = await startS3Server();
  t.after(() => server.close());
  const warnings: unknown[][] = [];
  const start = () => {
    const blobs = { ...server.place, keepDeletedDays: 30 };
    return startBackgroundChecks({ databaseUrl: null, blobs }, { warn: (...args: unknown[]) => warnings.push(args) });
  };
  return { server, warnings, start };
}

test('object storage that accepts damaged uploads is named in a warning, and other object storage is not', async (t) => {
  const { server, warnings, start } = await openStorage(t);
  const isChecked = () => server.seen.at(-1)?.method === 'DELETE' && server.seen.length > 10;
  const fit = start();
  await until(async () => isChecked());
  await fit.close();
  assert.deepEqual(warnings, []);
  server.choose = () => 'unchecked';
  const unfit = start();
  await until(async () => warnings.length > 0);
  await unfit.close();
  assert.match(
    JSON.stringify(warnings),
    /^\[\[\{"reason":"The service is not fit for a store: .*object storage check failed"\]\]$/,
  );
});

test('a check that waits for object storage ends with the service, without a warning', async (t) => {
  const { server, warnings, start } = await openStorage(t);
  server.choose = () => 'silent';
  const checks = start();
  await until(async () => server.seen.length > 0);
  await checks.close();
  assert.deepEqual([server.seen.length, warnings], [1, []]);
});
