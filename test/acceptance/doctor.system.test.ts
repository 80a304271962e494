import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Quartermaster } from '@quartermaster/client';
import { runCli } from '../../packages/cli/src/testing/run-cli.ts';
import { certificate, key } from '../../packages/server/src/tools/egress/testing/certificate.suite.ts';
import { databaseFor } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

type States = Readonly<Record<string, readonly [state: string, message: string]>>;

/** Runs `doctor` and returns its checks by name. */
async function examine(t: TestContext, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { code, output, errors } = await runCli(['doctor', '--json', ...args], {
    home: await temporaryFolder(t),
    environment,
  });
  assert.equal(errors, '');
  const lines = output.trim().split('\n');
  const checks = lines.map((line) => JSON.parse(line) as { name: string; state: string; message: string });
  const states: States = Object.fromEntries(checks.map(({ name, state, message }) => [name, [state, message]]));
  return { code, output, states, failed: checks.filter(({ state }) => state === 'failed').map(({ name }) => name) };
}

test('[commands] doctor checks a service, and names what is wrong with the address, the key and its permissions', async (t) => {
  const { filesUrl, pluginsUrl, key: apiKey } = await startService(t);
  const environment = { QUARTERMASTER_URL: filesUrl, QUARTERMASTER_API_KEY: apiKey };
  const healthy = await examine(t, [], { ...environment, QUARTERMASTER_PLUGINS_URL: pluginsUrl });
  assert.equal(healthy.code, 0);
  assert.deepEqual(
    Object.entries(healthy.states).map(([name, [state]]) => [name, state]),
    ['Node.js', 'address', 'version', 'clock', 'readiness', 'encryption', 'key', 'permissions', 'plugins'].map(
      (name) => [name, 'ok'],
    ),
  );
  assert.ok(!healthy.output.includes(apiKey));
  assert.match(healthy.states.permissions?.[1] ?? '', /^Reads, searches, changes and deletes every collection\. /);

  const qm = new Quartermaster({ baseUrl: filesUrl, apiKey });
  const [project] = (await qm.projects.list()).data;
  const few = await qm.keys.create(project?.project_id ?? '', { name: 'few', scopes: ['files:read'] });
  const limited = await examine(t, [], { ...environment, QUARTERMASTER_API_KEY: few.key });
  assert.deepEqual([limited.code, limited.states.permissions], [0, ['ok', 'Reads files.']]);

  const wrong = await examine(t, [], { ...environment, QUARTERMASTER_API_KEY: 'qmk_wrong' });
  assert.deepEqual([wrong.code, wrong.failed], [1, ['key']]);
  assert.match(wrong.states.key?.[1] ?? '', /^APIKEY_VALIDATION_FAILED: .*quartermaster -- login/);
  const none = await examine(t, [], { QUARTERMASTER_URL: filesUrl });
  assert.deepEqual(none.failed, ['key']);
  const away = await examine(t, ['--url', 'http://127.0.0.1:1'], environment);
  assert.deepEqual([away.code, away.failed, Object.keys(away.states)], [1, ['address'], ['Node.js', 'address']]);
});

test('[commands] doctor names the remedy for a certificate of an unknown authority, and sends no key', async (t) => {
  const received: unknown[] = [];
  const server = createServer({ cert: certificate, key }, (request, response) => {
    received.push(request.headers.authorization);
    response.end();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const { failed, states } = await examine(t, ['--url', `https://127.0.0.1:${port}`], {
    QUARTERMASTER_API_KEY: 'qmk_x',
  });
  assert.deepEqual([failed, received], [['address', 'encryption'], []]);
  assert.match(states.address?.[1] ?? '', /set NODE_EXTRA_CA_CERTS to the file of the authority\.$/);
});

test('[commands] doctor --local checks the settings and the data folder of this machine, and creates nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const data = join(folder, 'data');
  const fresh = await examine(t, ['--local'], { QUARTERMASTER_DATA: data });
  assert.deepEqual([fresh.code, fresh.failed, fresh.states.sandbox?.[0]], [0, [], 'ok']);
  assert.deepEqual(await readdir(folder), []);
  await mkdir(data);
  await chmod(data, 0o777);
  const open = await examine(t, ['--local'], { QUARTERMASTER_DATA: data });
  assert.deepEqual([open.code, open.failed], [1, ['data folder']]);
  assert.match(open.states['data folder']?.[1] ?? '', /Run "chmod o-w" on it/);
  await chmod(data, 0o700);
  const full = await examine(t, ['--local'], {
    QUARTERMASTER_DATA: data,
    QUARTERMASTER_MIN_FREE_DISK_MB: '1000000000',
  });
  assert.deepEqual(full.failed, ['disk space']);
  assert.deepEqual(await readdir(data), []);
  const databaseOf = async (url: string) => {
    const { failed, states } = await examine(t, ['--local'], {
      QUARTERMASTER_DATA: data,
      QUARTERMASTER_DATABASE_URL: url,
    });
    return [failed, states.database?.[1] ?? ''] as const;
  };
  const [none, empty] = await databaseOf(await databaseFor(t));
  assert.deepEqual([none, empty], [[], 'PostgreSQL answers, and it holds no store yet; the first start creates one']);
  const [failed, unreachable] = await databaseOf('postgres://someone:secret@127.0.0.1:9/store');
  assert.deepEqual(failed, ['database']);
  assert.match(unreachable, /^PostgreSQL \(QUARTERMASTER_DATABASE_URL\): .*ECONNREFUSED/);
  assert.ok(!unreachable.includes('secret'));
  const invalid = await examine(t, ['--local'], { QUARTERMASTER_FILES_PORT: 'x', QUARTERMASTER_NOTHING: '1' });
  assert.match(
    invalid.states.settings?.[1] ?? '',
    /QUARTERMASTER_NOTHING is not a setting.*QUARTERMASTER_FILES_PORT|QUARTERMASTER_FILES_PORT.*QUARTERMASTER_NOTHING/,
  );
});
