import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openArchive } from '../../packages/server/src/tools/packaging/archive.ts';
import { createInstalledBundles } from '../../packages/server/src/tools/packaging/installed-bundles.ts';
import { succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const quartermaster = (args: readonly string[], folder?: string) =>
  succeed(folder === undefined ? {} : { folder }, 'bundle', ...args);

/** Plans an archive and confirms its digest. */
async function install(archive: string, folder: string, ...options: string[]): Promise<string> {
  const { digest } = JSON.parse(await quartermaster(['add', archive, '--json'], folder));
  return await quartermaster(['add', archive, '--digest', digest, ...options], folder);
}

const schemas = { input_schema: { type: 'object', properties: {} }, effects: 'read', idempotent: true };

/** Writes a bundle with code, like one of a third party: one plugin greets, the other waits for its upstream. */
async function writeHeldBundle(folder: string, version: string): Promise<string> {
  const place = join(folder, version, 'held');
  await mkdir(place, { recursive: true });
  const about = { name: 'Held', description: 'Created for a test.' };
  const greeting = { type: 'string', description: 'With the version that gave it.' };
  const plugin = { ...about, ...schemas, output_schema: { type: 'object', properties: { greeting } } };
  const files = {
    'bundle.yaml': { id: 'held', version, ...about, provider: 'x', developer: 'x', hosts: ['gate.example'] },
    'greet.yaml': { id: 'greet', ...plugin, handler: 'greet.ts' },
    'wait.yaml': { id: 'wait', ...plugin, handler: 'wait.ts' },
  };
  for (const [name, value] of Object.entries(files)) await writeFile(join(place, name), JSON.stringify(value));
  await writeFile(join(place, 'greet.ts'), `export const run = () => ({ greeting: 'hello from ${version}' });\n`);
  await writeFile(
    join(place, 'wait.ts'),
    `export const run = async (_input, context) => {
      const { text } = await context.fetch({ url: 'https://gate.example/' });
      return { greeting: text + ' to ${version}' };
    };\n`,
  );
  return place;
}

async function packBoth(t: TestContext) {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  const publisher = await quartermaster(['keygen', join(folder, 'key.pem')]);
  const archives: string[] = [];
  for (const version of ['1.0.0', '2.0.0']) {
    const place = await writeHeldBundle(folder, version);
    archives.push(await quartermaster(['pack', place, '--key', join(folder, 'key.pem'), '--out', folder]));
  }
  return { folder, publisher, archives };
}

test('[install] a signed bundle is installed, replaced and removed without a network while 50 executions a second run: none fails', async (t) => {
  const { folder, publisher, archives } = await packBoth(t);
  const drive = resolve('test/support/drive-installation.ts');
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const inside = ['/bin/sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const program = [process.execPath, drive, folder, publisher, ...archives];
  const { stdout } = await run('unshare', [...asRoot, '--net', ...inside, ...program], { maxBuffer: 64 * 2 ** 20 });
  const result = JSON.parse(stdout);
  assert.equal(result.outside, 'ENETUNREACH', 'there is no network');
  assert.deepEqual(result.failures, []);
  assert.deepEqual(Object.keys(result.statuses), ['200']);
  assert.ok(result.statuses[200] >= 150, `only ${result.statuses[200]} executions`);
  assert.equal(result.answerOfNew.data.data.greeting, 'hello from 2.0.0');
  assert.equal(result.answerOfOld.data.data.greeting, 'open to 1.0.0', 'a run under way finishes on its version');
  assert.equal(result.exitCode, 0);
  t.diagnostic(`${result.statuses[200]} executions, 0 failed`);
});

test('[install] MCP clients that subscribe are notified of changed tools', async (t) => {
  const { archives, publisher } = await packBoth(t);
  const service = await startService(t);
  await quartermaster(['trust', publisher, '--name', 'Somebody'], service.folder);
  const stream = await listen(`${service.pluginsUrl}/mcp`);
  t.after(() => stream.end());
  assert.match(await stream.next(), /subscriptions\/acknowledged.*"toolsListChanged":true/);
  await install(archives[0] ?? '', service.folder);
  assert.match(await stream.next(), /notifications\/tools\/list_changed/);
  const listed = await fetch(`${service.pluginsUrl}/v1/plugins?bundle_id=held&format=mcp`);
  assert.equal(listed.status, 200);
  assert.match(
    await quartermaster(['list'], service.folder),
    /^held +1\.0\.0 +held@1\.0\.0\+sha256\.[0-9a-f]{64} +ed25519:/m,
  );
  assert.equal(await service.stop(), 0, 'a client that listens does not keep the service from stopping');
});

test('[install] a bundle without a signature of a trusted publisher is refused unless the operator allows it', async (t) => {
  const { archives } = await packBoth(t);
  const { folder } = await startService(t);
  await assert.rejects(install(archives[0] ?? '', folder), /which you do not trust yet/);
  assert.match(await install(archives[0] ?? '', folder, '--allow-unknown'), /^installed held 1\.0\.0/);
  assert.match(await quartermaster(['remove', 'held'], folder), /^$/);
  assert.doesNotMatch(await quartermaster(['list'], folder), /held/);
});

test('[install] a bundle that was changed after its installation is not offered, and the log, the metric and the bundle list report it', async (t) => {
  const { archives } = await packBoth(t);
  const data = await temporaryFolder(t);
  // As earlier versions did, without a row.
  const archive = await openArchive(await readFile(archives[0] ?? ''));
  await createInstalledBundles(join(data, 'bundles')).put(archive, async () => {});
  const before = await startService(t, { folder: data });
  assert.match(await quartermaster(['list'], data), / as installed$/m);
  const isServed = async ({ pluginsUrl }: StartedService) =>
    (await fetch(`${pluginsUrl}/v1/plugins?bundle_id=held`)).status === 200;
  assert.equal(await isServed(before), true);
  const headers = { authorization: `Bearer ${before.key}` };
  const changed = async () => await (await fetch(`${before.pluginsUrl}/metrics`, { headers })).text();
  assert.match(await changed(), /^quartermaster_bundles_changed 0$/m);
  // Changes the bundle while the service runs, which notices this within seconds.
  await appendFile(join(data, 'bundles/held/greet.ts'), '// changed\n');
  while (await isServed(before)) await pause(100);
  assert.match(await changed(), /^quartermaster_bundles_changed 1$/m);
  // The log is written up to a second later.
  while (!before.log().includes('is not offered')) await pause(50);
  assert.match(
    before.log(),
    /"file":"held\/bundle\.yaml".*differ from its archive: greet\.ts\. Remove it.*"bundle load failed"/,
  );
  assert.match(await quartermaster(['list'], data), / changed: greet\.ts$/m);
  await before.stop();
  // The archive is in the store, so the next start restores the file.
  const after = await startService(t, { folder: data });
  assert.equal(await isServed(after), true);
  assert.match(await quartermaster(['list'], data), / as installed$/m);
});

test('[install] a bundle of an earlier version that was changed before the first start is not offered, also not later', async (t) => {
  const { archives } = await packBoth(t);
  const data = await temporaryFolder(t);
  const archive = await openArchive(await readFile(archives[0] ?? ''));
  await createInstalledBundles(join(data, 'bundles')).put(archive, async () => {});
  await appendFile(join(data, 'bundles/held/greet.ts'), '// changed\n');
  for (let start = 0; start < 2; start += 1) {
    // The second start has cached manifests.
    const service = await startService(t, { folder: data });
    assert.equal((await fetch(`${service.pluginsUrl}/v1/plugins?bundle_id=held`)).status, 404);
    // The log is written up to a second later.
    while (!/"bundle_id":"held".*"bundle of the data folder not added to the store"/.test(service.log()))
      await pause(50);
    await service.stop();
  }
});

/** Returns the events of `subscriptions/listen` in the revision 2026-07-28. */
async function listen(url: string) {
  const controller = new AbortController();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { notifications: { toolsListChanged: true }, _meta: meta };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }),
    signal: controller.signal,
  });
  assert.ok(response.body);
  const events = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let text = '';
  return {
    end: () => controller.abort(),
    async next(): Promise<string> {
      for (;;) {
        const event = /^(?:[\s\S]*?)data: (.*)\n/.exec(text);
        if (event !== null) {
          text = text.slice(event[0].length);
          return event[1] ?? '';
        }
        const { value, done } = await events.next();
        if (done === true) throw new Error(`the stream ended: ${text}`);
        text += value;
      }
    },
  };
}
