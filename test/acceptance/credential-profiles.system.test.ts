import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findFiles } from '../support/find-files.ts';
import { send, serve } from '../support/http.ts';
import { connectMcp } from '../support/mcp-clients.ts';
import { databaseFor } from '../support/postgres.ts';
import { succeed } from '../support/run-command.ts';
import { writeSchemeBundles } from '../support/scheme-bundles.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const canary = 'canary-of-a-profile-0123456789';
const upstreamKeys: Array<string | undefined> = [];

interface Place {
  readonly data: string;
  readonly settings: Readonly<Record<string, string>>;
}

async function preparePlace(t: TestContext): Promise<Place> {
  const [bundles, data] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writeSchemeBundles(bundles);
  const origin = await serve(t, (request, response) => {
    upstreamKeys.push(request.headers.authorization?.replace('Bearer ', ''));
    const isBad = request.headers.authorization?.includes('bad') === true;
    response.writeHead(isBad ? 401 : 200, { 'content-type': 'application/json' }).end('{"a":1}');
  });
  const overrides = JSON.stringify({ 'https://api.example.com': origin });
  return { data, settings: { BUNDLES: bundles, EGRESS_OVERRIDES: overrides, ISOLATION: 'process' } };
}

/** Runs a command of `quartermaster` on the same store. */
const command = (place: Place, args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
  succeed({ folder: place.data, settings: { ...place.settings, ...settings } }, ...args);

const caller =
  (service: StartedService, key: string | null = service.key) =>
  async (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) => {
    const { status, body } = await send(service.pluginsUrl + path, { method, key, json, headers });
    return { ...body, status };
  };

const execution = (credentials: object) => ({
  bundle_id: 'bearer',
  plugin_id: 'ask',
  input_params: { mode: 'ok', q: 'x' },
  credentials,
});
const named = (name: string) => ({ $profile: name });

test('[profiles] credentials are stored encrypted under a name and used by this name in execute, verify, the direct call and MCP', async (t) => {
  const place = await preparePlace(t);
  const encryptionKey = await command(place, ['profile', 'new-key']);
  const service = await startService(t, {
    folder: place.data,
    settings: { ...place.settings, SEALING_KEY: encryptionKey },
  });
  const call = caller(service);

  const created = await call('POST', '/v1/credential_profiles', {
    name: 'production',
    bundle_id: 'bearer',
    credentials: { KEY: canary },
  });
  assert.equal(created.status, 200);
  assert.deepEqual(Object.keys(created.data).sort(), [
    'bundle_id',
    'created_timestamp',
    'credential_profile_id',
    'name',
    'object',
    'updated_timestamp',
  ]);
  assert.deepEqual((await call('GET', '/v1/credential_profiles/production')).data, created.data);
  const list = await call('GET', '/v1/credential_profiles');
  assert.deepEqual([list.data, list.fetched_count, list.has_more], [[created.data], 1, false]);

  upstreamKeys.length = 0;
  assert.equal((await call('POST', '/v1/execute', execution(named('production')))).status, 200);
  const verified = { bundle_id: 'bearer', credentials: named('production') };
  assert.equal((await call('POST', '/v1/verify_credentials', verified)).status, 200);
  const direct = '/v1/bundles/bearer/plugins/ask/execute';
  const input = { mode: 'ok', q: 'x' };
  const header = Buffer.from('{"$profile":"production"}').toString('base64url');
  for (const headers of [{ 'x-plugin-profile': 'production' }, { 'x-plugin-credentials': header }]) {
    assert.equal((await call('POST', direct, input, headers)).error, undefined);
  }
  for (const [path, name] of [
    ['/mcp', 'bearer__ask'],
    ['/mcp/bearer', 'ask'],
  ] as const) {
    for (const headers of [{ 'x-plugin-profile': 'production' }, { 'x-plugin-credentials': header }, {}]) {
      const all = { ...headers, authorization: `Bearer ${service.key}` };
      const client = await connectMcp(t, `${service.pluginsUrl}${path}`, all);
      const meta = Object.keys(headers).length === 0 ? { 'quartermaster/credentials': named('production') } : {};
      const result = await client.callTool({ name, arguments: input, _meta: meta });
      assert.notEqual(result.isError, true, JSON.stringify(result));
    }
  }
  assert.deepEqual([...new Set(upstreamKeys)], [canary]);
  assert.equal(upstreamKeys.length, 10);

  const changed = await call('POST', '/v1/credential_profiles/production', { credentials: { KEY: 'bad-key-0123456' } });
  assert.ok(Number(changed.data.updated_timestamp) >= Number(created.data.updated_timestamp));
  assert.equal((await call('POST', '/v1/verify_credentials', verified)).error.code, 'CREDENTIALS_VALIDATION_ERROR');
  assert.equal((await call('DELETE', '/v1/credential_profiles/production')).status, 200);
  assert.equal((await call('POST', '/v1/execute', execution(named('production')))).status, 404);
  assert.deepEqual(await findFiles(place.data, canary), []);
  assert.ok(!service.log().includes(canary));
});

test('[profiles] only keys of its project can use a profile, only for its bundle, and only keys with scope admin can change it', async (t) => {
  const place = await preparePlace(t);
  const SEALING_KEY = await command(place, ['profile', 'new-key']);
  const service = await startService(t, { folder: place.data, settings: { ...place.settings, SEALING_KEY } });
  const admin = caller(service);
  const credentials = { KEY: canary };
  const profile = { name: 'one', bundle_id: 'bearer', credentials };
  assert.equal((await admin('POST', '/v1/credential_profiles', profile)).status, 200);

  const [projects] = (await command(place, ['project', 'list'])).split('\n').slice(-1);
  const ownProject = /proj\w+/.exec(projects ?? '')?.[0] ?? assert.fail('a project');
  const createKey = (project: string, scopes: string) =>
    command(place, ['key', 'create', project, '--name', 'k', '--scopes', scopes]);
  const user = caller(service, await createKey(ownProject, 'plugins'));
  const stranger = caller(
    service,
    await createKey(await command(place, ['project', 'create', 'other']), 'plugins,admin'),
  );
  const nobody = caller(service, null);

  assert.equal((await user('POST', '/v1/execute', execution(named('one')))).status, 200);
  assert.equal((await user('GET', '/v1/credential_profiles')).fetched_count, 1);
  for (const [method, path, body] of [
    ['POST', '/v1/credential_profiles', { ...profile, name: 'two' }],
    ['POST', '/v1/credential_profiles/one', { credentials }],
    ['DELETE', '/v1/credential_profiles/one', undefined],
  ] as const) {
    assert.equal((await user(method, path, body)).error.code, 'PERMISSION_DENIED');
    assert.equal((await nobody(method, path, body)).error.code, 'APIKEY_VALIDATION_FAILED');
  }
  assert.equal((await nobody('GET', '/v1/credential_profiles')).status, 401);
  assert.equal((await nobody('POST', '/v1/execute', execution(named('one')))).status, 401);
  assert.equal((await nobody('POST', '/v1/execute', execution(credentials))).status, 200);

  assert.equal((await stranger('GET', '/v1/credential_profiles')).fetched_count, 0);
  for (const answer of [
    await stranger('POST', '/v1/execute', execution(named('one'))),
    await stranger('GET', '/v1/credential_profiles/one'),
    await stranger('POST', '/v1/credential_profiles/one', { credentials }),
    await stranger('DELETE', '/v1/credential_profiles/one'),
  ]) {
    assert.deepEqual([answer.status, answer.error.code], [404, 'OBJECT_NOT_FOUND']);
  }
  assert.equal((await stranger('POST', '/v1/credential_profiles', profile)).status, 200);

  const wrong: Array<[object, number, RegExp]> = [
    [
      { ...execution(named('one')), bundle_id: 'header' },
      422,
      /\$profile must be .* received a profile of the bundle "bearer"/,
    ],
    [execution({ $profile: 'one', KEY: canary }), 422, /must be the only member of credentials/],
    [execution({ $profile: 5 }), 422, /must be the name of a credential profile/],
    [execution(named('none')), 404, /No credential profile named "none"/],
  ];
  for (const [body, status, message] of wrong) {
    const answer = await admin('POST', '/v1/execute', body);
    assert.deepEqual([answer.status, message.test(answer.error.message)], [status, true], answer.error.message);
  }
  assert.equal((await admin('POST', '/v1/credential_profiles', profile)).error.code, 'DUPLICATE_OBJECT');
  for (const [changes, status] of [
    [{ name: 'two', bundle_id: 'nope' }, 404],
    [{ name: 'two', credentials: { OTHER: canary } }, 422],
    [{ name: 'two', credentials: { KEY: 'x'.repeat(8 * 1024 + 1) } }, 422],
    [{ name: '../two' }, 422],
  ] as const) {
    const answer = await admin('POST', '/v1/credential_profiles', { ...profile, ...changes });
    assert.equal(answer.status, status);
    assert.ok(!JSON.stringify(answer).includes(canary));
  }
});

test('[profiles] with PostgreSQL and no encryption key there are no profiles, and the error names the setting', async (t) => {
  const place = await preparePlace(t);
  const url = await databaseFor(t);
  const service = await startService(t, { folder: place.data, settings: { ...place.settings, DATABASE_URL: url } });
  const call = caller(service);
  const profile = { name: 'one', bundle_id: 'bearer', credentials: { KEY: canary } };
  for (const answer of [
    await call('POST', '/v1/credential_profiles', profile),
    await call('POST', '/v1/execute', execution(named('one'))),
  ]) {
    assert.deepEqual([answer.status, answer.error.code], [501, 'NOT_CONFIGURED']);
    assert.match(answer.error.message, /QUARTERMASTER_SEALING_KEY/);
  }
  assert.deepEqual((await call('GET', '/v1/credential_profiles')).data, []);
  assert.doesNotMatch(service.log(), /"level":"error"/, 'a missing setting is no fault of the service');
});

test('[profiles] encryption keys can be rotated while the service runs; without a key that it needs, the service names it and does not start', async (t) => {
  const place = await preparePlace(t);
  const [older, newer] = [await command(place, ['profile', 'new-key']), await command(place, ['profile', 'new-key'])];
  const start = (settings: Record<string, string>) =>
    startService(t, { folder: place.data, settings: { ...place.settings, ...settings } });
  const first = await start({ SEALING_KEY: older });
  for (let index = 0; index < 120; index += 1) {
    const profile = { name: `p${index}`, bundle_id: 'bearer', credentials: { KEY: `${canary}-${index}` } };
    assert.equal((await caller(first)('POST', '/v1/credential_profiles', profile)).status, 200);
  }
  await first.stop();

  // The new key comes first. Credentials encrypted with the old key can still be decrypted.
  const keyFile = join(await temporaryFolder(t), 'keys');
  await writeFile(keyFile, `${newer}\n${older}\n`, { mode: 0o600 });
  const both = await start({ SEALING_KEY_FILE: keyFile });
  const uses = async (service: StartedService, index: number) =>
    (await caller(service)('POST', '/v1/execute', execution(named(`p${index}`)))).status;
  const rotating = command(place, ['profile', 'rotate'], { SEALING_KEY_FILE: keyFile });
  let isRotating = true;
  const rotated = rotating.finally(() => {
    isRotating = false;
  });
  let used = 0;
  while (isRotating) assert.equal(await uses(both, used++ % 120), 200);
  assert.match(await rotated, /^encrypted with the key [0-9a-f]{12}: 120$/);
  assert.match(await command(place, ['profile', 'rotate'], { SEALING_KEY_FILE: keyFile }), /: 0$/);
  await both.stop();

  // Only the new key is needed now.
  const last = await start({ SEALING_KEY: newer });
  assert.equal(await uses(last, 0), 200);
  await last.stop();
  for (const settings of [{}, { SEALING_KEY: older }]) {
    await assert.rejects(start(settings), /120 with the key [0-9a-f]{12}/);
  }
  const forgotten = await command(place, ['profile', 'forget', '--unreadable'], { SEALING_KEY: older });
  assert.equal(forgotten.split('\n').length, 120);
  assert.equal(await uses(await start({ SEALING_KEY: older }), 0), 404);
});
