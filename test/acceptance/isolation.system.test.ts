import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { settledRecord } from '../support/client.ts';
import { send } from '../support/http.ts';
import { type StartedService, startService } from '../support/service.ts';

/** Creates a folder with one third-party bundle: a copy of ours under another name. */
async function foreignBundles(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-bundles-'));
  t.after(() => rm(folder, { recursive: true }));
  await cp('bundles/arithmetic', join(folder, 'sums'), { recursive: true });
  const file = join(folder, 'sums', 'bundle.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^id: arithmetic/m, 'id: sums'));
  await chmod(folder, 0o755);
  return folder;
}

/** Runs the service after a shell command, in separate namespaces, so that the change affects only the service. */
function onMachine(change: string): readonly string[] {
  return ['/usr/bin/unshare', '--map-root-user', '--mount', '/bin/sh', '-c', `${change} && exec "$@"`, 'sh'];
}

async function isolationOf(service: StartedService, bundleId: string): Promise<string | undefined> {
  const { data } = (await send(`${service.pluginsUrl}/v1/bundles`)).body;
  return data.find((bundle: { bundle_id: string }) => bundle.bundle_id === bundleId)?.isolation;
}

/** Returns the log lines with this message. */
function linesOf(service: StartedService, message: string): readonly string[] {
  return service
    .log()
    .split('\n')
    .filter((line) => line.includes(`"msg":"${message}"`));
}

/** Creates a record from a text, which a reader process must parse. Returns its final status. */
async function readDocument({ client }: StartedService): Promise<string> {
  const { collection_id: collection } = await client.collections.create({ name: 'tea' });
  const { record_id: record } = await client.records.create(collection, { content: 'Green tea from Uji.' });
  return (await settledRecord(client, collection, record)).status;
}

const add = async (service: StartedService, bundleId: string) => (await execute(service, bundleId)).body.data?.data;

const execute = (service: StartedService, bundleId: string) =>
  send(`${service.pluginsUrl}/v1/execute`, {
    json: { bundle_id: bundleId, plugin_id: 'add', credentials: {}, input_params: { number_1: 1, number_2: 2 } },
  });

test('[isolation] third-party code runs in a sandbox and code of the product in a process, and the lists show the isolation', async (t) => {
  const service = await startService(t, { settings: { BUNDLES: await foreignBundles(t) } });
  assert.equal(await isolationOf(service, 'arithmetic'), 'process');
  assert.equal(await isolationOf(service, 'sums'), 'sandbox');
  assert.deepEqual(await add(service, 'arithmetic'), { result: 3 });
  assert.deepEqual(await add(service, 'sums'), { result: 3 });
  const health = await (await fetch(`${service.pluginsUrl}/v1/health_check`)).text();
  assert.match(health, /"sandbox":\{"available":true\}/);
});

test('[isolation] documents are read in a sandbox, which the log reports once, with one warning for a start as root', async (t) => {
  const service = await startService(t);
  assert.equal(await readDocument(service), 'ready');
  assert.equal(await service.stop(), 0);
  const [line = '', ...others] = linesOf(service, 'document reader isolation selected');
  assert.match(line, /"tier":"sandbox"/);
  assert.deepEqual([others, linesOf(service, 'document readers started without a sandbox')], [[], []]);
  assert.equal(linesOf(service, 'service started as root').length, process.getuid?.() === 0 ? 1 : 0);
});

test('[isolation] the operator can change the isolation with one setting', async (t) => {
  const bundles = await foreignBundles(t);
  const trusting = await startService(t, { settings: { BUNDLES: bundles, ISOLATION: 'process' } });
  assert.equal(await isolationOf(trusting, 'sums'), 'process');
  assert.deepEqual(await add(trusting, 'sums'), { result: 3 });
  await trusting.stop();
  const strict = await startService(t, { settings: { ISOLATION: 'sandbox' } });
  assert.equal(await isolationOf(strict, 'arithmetic'), 'sandbox');
  assert.deepEqual(await add(strict, 'arithmetic'), { result: 3 });
});

const poorMachines: ReadonlyArray<readonly [what: string, change: string, reason: string]> = [
  ['without bubblewrap and util-linux', 'mount -t tmpfs none /usr/bin', 'bubblewrap is not installed'],
  ['that denies new namespaces', 'echo 0 > /proc/sys/user/max_user_namespaces', 'user namespaces are not allowed here'],
];
for (const [what, change, reason] of poorMachines) {
  test(`[isolation] a machine ${what} refuses code from elsewhere, says why, runs ours and reads documents`, async (t) => {
    const launcher = onMachine(change);
    const service = await startService(t, { settings: { BUNDLES: await foreignBundles(t) }, launcher });
    assert.deepEqual(await add(service, 'arithmetic'), { result: 3 });
    const { status, code, message } = await execute(service, 'sums');
    assert.deepEqual([status, code], [503, 'SERVICE_UNAVAILABLE']);
    assert.ok(message.includes(`need a sandbox, and ${reason}`), message);
    assert.equal(await isolationOf(service, 'sums'), 'sandbox', 'it is listed with what it needs');
    const health = await (await fetch(`${service.pluginsUrl}/v1/health_check`)).text();
    assert.ok(health.includes(`"sandbox":{"available":false,"missing":${JSON.stringify(reason)}}`), health);
    assert.match(health, /"bundle_failures":1/);
    assert.equal(await readDocument(service), 'ready');
    assert.equal(await service.stop(), 0);
    const [line = '', ...others] = linesOf(service, 'document readers started without a sandbox');
    assert.ok(line.includes(`"missing":"${reason}"`) && line.includes('"remedy":'), line);
    assert.deepEqual(others, []);
    assert.match(service.log(), /handlers refused: no sandbox available/);
  });
}
