import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { BundlePlan } from '@quartermaster/contract';
import { packFiles } from '../../packages/server/src/tools/installation/pack-files.ts';
import { type SignedIn, setUp } from '../support/administrator.ts';
import { send } from '../support/http.ts';
import { launcherOf, startStorage } from '../support/object-storage.ts';
import { databaseFor } from '../support/postgres.ts';
import { runCommand, succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const about = { name: 'Greeter', description: 'Created for a test.' };
const plugin = {
  ...{ id: 'greet', ...about, effects: 'read', idempotent: true, handler: 'greet.ts' },
  input_schema: { type: 'object', properties: {} },
  output_schema: { type: 'object', properties: { version: { type: 'string', description: 'Of the bundle.' } } },
};

/** An archive whose plugin answers with its version. */
function archiveOf(version: string): string {
  const manifest = { id: 'greeter', version, ...about, provider: 'x', developer: 'x', hosts: [] };
  const files = {
    'bundle.yaml': JSON.stringify(manifest),
    'greet.yaml': JSON.stringify({ ...plugin, description: version }),
    'greet.ts': `export const run = () => ({ version: '${version}' });\n`,
  };
  return packFiles(new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]))).toString('base64');
}

async function install(admin: SignedIn, version: string): Promise<void> {
  const body = { source: { kind: 'archive', content: archiveOf(version) } };
  const planned = await admin.ask('POST', '/v1/bundle_plans', { body });
  const { data } = (await planned.json()) as { data: BundlePlan };
  const answer = await admin.ask('POST', `/v1/bundle_plans/${data.bundle_plan_id}/install`, {
    body: { digest: data.digest, accept_publisher: true },
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** What a node lists and what it executes: versions, or statuses of refusals. */
async function seenBy({ pluginsUrl }: StartedService, key: string): Promise<readonly unknown[]> {
  const listed = await send(`${pluginsUrl}/v1/plugins/greeter/greet`, { key });
  const json = { bundle_id: 'greeter', plugin_id: 'greet', input_params: {}, credentials: {} };
  const ran = await send(`${pluginsUrl}/v1/execute`, { key, json });
  const { data } = ran.body as { data?: { data?: { version?: string } } };
  return [
    (listed.body.data as { description?: string } | undefined)?.description ?? listed.status,
    data?.data?.version ?? ran.status,
  ];
}

/** Waits until the node lists and executes this version. Until then each answer is the state before, or is to be retried. */
async function reaches(node: StartedService, key: string, wanted: string | number, before: string | number) {
  const started = performance.now();
  let seen: readonly unknown[] = [];
  for (let tries = 0; tries < 500; tries += 1) {
    seen = await seenBy(node, key);
    if (seen.every((each) => each === wanted)) return performance.now() - started;
    for (const each of seen) assert.ok([before, wanted, 503].includes(each as string), `${each}`);
    await pause(50);
  }
  assert.fail(`The node lists and executes ${seen} instead of ${wanted}.`);
}

async function startStore(t: TestContext) {
  const storage = await startStorage(t);
  const { environment } = storage;
  const launcher = launcherOf(environment);
  const url = await databaseFor(t);
  const settings = { BLOBS: 's3://store/bundles', DATABASE_URL: url, PLUGINS_KEY: 'required', ISOLATION: 'process' };
  const first = await startService(t, { settings, launcher });
  const { key } = first;
  const start = async (folder?: string) =>
    await startService(t, {
      folder: folder ?? (await temporaryFolder(t)),
      settings: { ...settings, SERVE: 'plugins' },
      ...{ key, launcher },
    });
  const place = { folder: first.folder, settings, environment };
  return { storage, first, key, start, place };
}

test('[install] each node lists and executes a bundle that one of them has installed, updated or removed', async (t) => {
  const { first, key, start } = await startStore(t);
  const second = await start();
  const admin = await setUp(first);
  assert.deepEqual(await seenBy(second, key), [404, 404]);

  const waits: number[] = [];
  await install(admin, '1.0.0');
  assert.deepEqual(await seenBy(first, key), ['1.0.0', '1.0.0'], 'at once after the answer');
  waits.push(await reaches(second, key, '1.0.0', 404));
  await install(admin, '2.0.0');
  assert.deepEqual(await seenBy(first, key), ['2.0.0', '2.0.0']);
  waits.push(await reaches(second, key, '2.0.0', '1.0.0'));
  const third = await start();
  assert.deepEqual(await seenBy(third, key), ['2.0.0', '2.0.0'], 'a node that starts later with an empty folder');
  assert.equal((await admin.ask('DELETE', '/v1/installed_bundles/greeter')).status, 200);
  assert.deepEqual(await seenBy(first, key), [404, 404]);
  for (const node of [second, third]) waits.push(await reaches(node, key, 404, '2.0.0'));
  t.diagnostic(`milliseconds after the answer: ${waits.map(Math.round).join(', ')}`);
  for (const node of [third, second, first]) assert.equal(await node.stop(), 0);
});

test('[install] a node that cannot read an archive says so, answers with 503, and recovers; the folder of a node may be lost', async (t) => {
  const { storage, first, key, start, place } = await startStore(t);
  const admin = await setUp(first);
  await install(admin, '1.0.0');
  const folder = await temporaryFolder(t);
  const objects = (seen: { path: string }) => (/\/blobs\//.test(seen.path) ? 'refused' : undefined);
  storage.choose = objects;
  const node = await start(folder);
  while (!/its archive cannot be read/.test(node.log())) await pause(50);
  assert.deepEqual(await seenBy(node, key), [503, 503]);
  const calculation = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '2+2' } };
  const other = await send(`${node.pluginsUrl}/v1/execute`, { key, json: { ...calculation, credentials: {} } });
  assert.equal(other.status, 200, 'other bundles work');
  const metrics = async () => {
    const answer = await fetch(`${node.pluginsUrl}/metrics`, { headers: { authorization: `Bearer ${key}` } });
    return await answer.text();
  };
  // The failure is logged before the new catalogue is in use.
  while (!/^quartermaster_bundles_changed 1$/m.test(await metrics())) await pause(50);
  storage.choose = () => undefined;
  await reaches(node, key, '1.0.0', 503);
  await node.kill();

  // With its folder, a node needs no archive.
  storage.choose = objects;
  const again = await start(folder);
  assert.deepEqual(await seenBy(again, key), ['1.0.0', '1.0.0']);
  assert.equal(await again.stop(), 0);
  storage.choose = () => undefined;
  await rm(join(folder, 'bundles'), { recursive: true });
  const restored = await start(folder);
  assert.deepEqual(await seenBy(restored, key), ['1.0.0', '1.0.0']);
  // A running node that loses its folder restores it, and answers 503 until then.
  await rm(join(folder, 'bundles'), { recursive: true });
  while (!/folders of installed bundles lost/.test(restored.log())) await pause(50);
  await reaches(restored, key, '1.0.0', 503);
  assert.match(await succeed(place, 'bundle', 'list'), /^greeter +1\.0\.0 .* as installed$/m);
  assert.equal((await runCommand(place, 'bundle', 'remove', 'greeter')).code, 0);
  await reaches(restored, key, 404, '1.0.0');
  for (const each of [restored, first]) assert.equal(await each.stop(), 0);
});
