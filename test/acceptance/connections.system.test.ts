import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { setUp } from '../support/administrator.ts';
import { send, serve } from '../support/http.ts';
import { providerClient, signInAtProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { databaseFor } from '../support/postgres.ts';
import { runCommand, succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const providerOrigin = 'https://provider.example';
const publicUrl = 'https://q.example';

/** A bundle whose plugins send the token to an API: one is declared, one is a handler. */
async function writeBundle(folder: string, issuer: string): Promise<void> {
  const bundle = join(folder, 'mailbox');
  await mkdir(bundle);
  const manifest = `id: mailbox
version: 1.0.0
name: Mailbox
description: Reads a mailbox.
provider: Mailbox
developer: Test
hosts: [api.example.com, provider.example]
credentials_schema:
  type: object
  required: [TOKEN]
  properties:
    TOKEN: {type: string, description: The token., x-secret: true}
inject:
  - {in: bearer, credential: TOKEN}
oauth:
  authorization_url: ${providerOrigin}/auth
  token_url: ${providerOrigin}/token
  issuer: ${issuer}
  authorization_parameters: {prompt: consent}
  scopes: [openid, email, profile, offline_access]
  account: {url: '${providerOrigin}/me', id: sub, label: email}
  credential: TOKEN
`;
  const plugin = (id: string, rest: string) => `id: ${id}
name: Read
description: Reads.
effects: read
idempotent: true
input_schema: {type: object, properties: {}}
output_schema: {type: object}
${rest}
`;
  await writeFile(join(bundle, 'bundle.yaml'), manifest);
  await writeFile(
    join(bundle, 'read.yaml'),
    plugin('read', "request: {method: GET, url: 'https://api.example.com/mail'}"),
  );
  await writeFile(join(bundle, 'look.yaml'), plugin('look', 'handler: look.mjs'));
  const handler = `export const run = async (input, context) => {
  const { text } = await context.fetch({ method: 'GET', url: 'https://api.example.com/mail' });
  return { text, seen: JSON.stringify([input, Object.keys(context), process.env]) };
};
`;
  await writeFile(join(bundle, 'look.mjs'), handler);
  const keyed = join(folder, 'keyed');
  await mkdir(keyed);
  const [about = ''] = manifest.split('oauth:');
  await writeFile(join(keyed, 'bundle.yaml'), about.replace('id: mailbox', 'id: keyed'));
  const request = plugin('read', "request: {method: GET, url: 'https://api.example.com/mail'}");
  await writeFile(join(keyed, 'read.yaml'), request);
}

/** A provider by other authors, an API that accepts its tokens, and a store that several processes can serve. */
async function preparePlace(t: TestContext) {
  const redirectUris = [`${publicUrl}/connect/callback`];
  const provider = await startIdentityProvider(t, { redirectUris, accessSeconds: 100 });
  provider.person.claims = { email: 'ada@example.com' };
  const used: string[] = [];
  const refused = new Set<string>();
  const api = await serve(t, (request, response) => {
    used.push(String(request.headers.authorization));
    if (refused.has(String(request.headers.authorization))) return response.writeHead(401).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"mails":1}');
  });
  const [bundles, data] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writeBundle(bundles, provider.issuer);
  const overrides = JSON.stringify({ [providerOrigin]: provider.issuer, 'https://api.example.com': api });
  const settings = {
    ...{ BUNDLES: bundles, EGRESS_OVERRIDES: overrides, EGRESS_ALLOW: '127.0.0.1', ISOLATION: 'process' },
    ...{ DATABASE_URL: await databaseFor(t), PUBLIC_FILES_URL: publicUrl, LOG_LEVEL: 'trace' },
  };
  const encryptionKey = await succeed({ folder: data, settings }, 'profile', 'new-key');
  return { provider, used, refused, data, settings: { ...settings, SEALING_KEY: encryptionKey } };
}

type Place = Awaited<ReturnType<typeof preparePlace>>;

/** Starts another process on the store, which serves plugins only. */
const startAnother = async (t: TestContext, { settings }: Place, key: string) =>
  startService(t, { folder: await temporaryFolder(t), key, settings: { ...settings, SERVE: 'plugins' } });

/** Sets the OAuth client, as the operator does in the console. */
async function setClient(service: StartedService): Promise<void> {
  const { ask } = await setUp(service);
  const body = { client_id: providerClient.id, client_secret: providerClient.secret };
  const set = await ask('PUT', '/v1/oauth_clients/mailbox', { body });
  const { data } = (await set.json()) as { data: Record<string, unknown> };
  assert.deepEqual([set.status, data.redirect_uri], [200, `${publicUrl}/connect/callback`]);
  assert.ok(!JSON.stringify(data).includes(providerClient.secret));
  const refused = ['nope', 'keyed'].map(async (id) => (await ask('PUT', `/v1/oauth_clients/${id}`, { body })).status);
  assert.deepEqual(await Promise.all(refused), [404, 422], 'only bundles that declare oauth take a client');
  const form = await call(service, '/v1/connections', { bundle_id: 'keyed', end_user: 'user-42' });
  const url = service.filesUrl + form.body.data.connect_url.slice(publicUrl.length);
  for (const key of ['   ', '\u20ac']) {
    const page = await fetch(url, { method: 'POST', headers: formHeaders, body: new URLSearchParams({ TOKEN: key }) });
    assert.match(await page.text(), /role="alert"/, 'a form takes no key that no header can carry');
  }
}

const call = ({ pluginsUrl, key }: StartedService, path: string, json?: unknown) =>
  send(`${pluginsUrl}${path}`, { key, ...(json === undefined ? {} : { json }) });

const execute = (service: StartedService, id: string, plugin = 'read') =>
  call(service, '/v1/execute', {
    ...{ bundle_id: 'mailbox', plugin_id: plugin, input_params: {} },
    credentials: { $connection: id },
  });

/** Opens the link in a browser, signs in at the provider, and returns the URL of the answer. */
async function authorise(service: StartedService, { provider }: Place, connectUrl: string) {
  const path = connectUrl.slice(publicUrl.length);
  const started = await fetch(service.filesUrl + path, { method: 'POST', headers: formHeaders });
  const cookie = String(started.headers.get('set-cookie')).split(';', 1)[0] ?? '';
  const [, url = ''] = /content="0;url=([^"]*)"/.exec(await started.text()) ?? [];
  const there = url.replaceAll('&amp;', '&').replace(providerOrigin, provider.issuer);
  const callback = await signInAtProvider(provider, there);
  return { cookie, path: callback.href.slice(publicUrl.length) };
}

async function connect(service: StartedService, place: Place): Promise<string> {
  const link = await call(service, '/v1/connections', { bundle_id: 'mailbox', end_user: 'user-42' });
  assert.equal(link.status, 200, link.text);
  const { cookie, path } = await authorise(service, place, link.body.data.connect_url);
  const received = await fetch(service.filesUrl + path, { headers: { cookie }, redirect: 'manual' });
  const confirm = service.filesUrl + String(received.headers.get('location'));
  const body = 'decision=connect';
  assert.equal((await fetch(confirm, { method: 'POST', headers: { ...formHeaders, cookie }, body })).status, 200);
  return link.body.data.connection_id;
}

const countRefreshes = ({ provider }: Place) => provider.requests.filter((each) => each === 'POST /token').length - 1;

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

test('[connections] four processes refresh a connection once, and neither a plugin nor the log sees its token', async (t) => {
  const place = await preparePlace(t);
  const first = await startService(t, { folder: place.data, settings: place.settings });
  await setClient(first);
  const id = await connect(first, place);
  const others = await Promise.all([1, 2, 3].map(() => startAnother(t, place, first.key)));
  assert.equal((await execute(first, id)).status, 200);
  // The access token lives for 100 seconds. The store makes it older.
  const database = new pg.Client({ connectionString: place.settings.DATABASE_URL });
  await database.connect();
  await database.query(
    `update credential_profile set connection = regexp_replace(connection, '"(accessExpiresAt|refreshAt)":[0-9]+', '"\\1":1', 'g')`,
  );
  await database.end();
  const services = [first, ...others];
  const runs = services.flatMap((service) => Array.from({ length: 5 }, () => execute(service, id)));
  assert.deepEqual(new Set((await Promise.all(runs)).map(({ status }) => status)), new Set([200]));
  assert.equal(countRefreshes(place), 1);
  const [before, after] = new Set(place.used);
  assert.ok(before !== undefined && after !== undefined && new Set(place.used).size === 2);
  const looked = await execute(first, id, 'look');
  assert.equal(looked.status, 200, looked.text);
  const secrets = [before, after].map((value) => value.replace('Bearer ', ''));
  const metrics = await call(first, '/metrics');
  for (const text of [looked.text, metrics.text, ...services.map(({ log }) => log())]) {
    for (const secret of [...secrets, providerClient.secret]) assert.ok(!text.includes(secret));
  }
});

test('[connections] four processes renew a token that the API refuses early once, and every run succeeds', async (t) => {
  const place = await preparePlace(t);
  const first = await startService(t, { folder: place.data, settings: place.settings });
  await setClient(first);
  const id = await connect(first, place);
  const services = [first, ...(await Promise.all([1, 2, 3].map(() => startAnother(t, place, first.key))))];
  assert.equal((await execute(first, id)).status, 200);
  place.refused.add(place.used[0] ?? '');
  const database = new pg.Client({ connectionString: place.settings.DATABASE_URL });
  await database.connect();
  // Tokens younger than 5 seconds are not renewed. The store makes this one older, and forgets how long it lives.
  await database.query(
    `update credential_profile set updated_at = updated_at - 6000,
       connection = regexp_replace(connection, '"(accessExpiresAt|refreshAt)":[0-9]+', '"\\1":null', 'g')`,
  );
  await database.end();
  const runs = services.flatMap((service) =>
    ['read', 'look', 'read', 'look', 'read'].map((plugin) => execute(service, id, plugin)),
  );
  assert.deepEqual(new Set((await Promise.all(runs)).map(({ status }) => status)), new Set([200]));
  assert.equal(countRefreshes(place), 1);
});

test('[connections] a process killed while it waits for a token leaves a connection to repeat, not one that looks revoked', async (t) => {
  const place = await preparePlace(t);
  const { provider } = place;
  const start = () => startService(t, { folder: place.data, settings: place.settings });
  const first = await start();
  const command = { folder: place.data, settings: place.settings };
  const client = ['bundle', 'client', 'set', 'mailbox', '--client-id', providerClient.id];
  const set = await succeed({ ...command, input: `${providerClient.secret}\n` }, ...client);
  assert.equal(set, `redirect URI: ${publicUrl}/connect/callback`);
  const link = await call(first, '/v1/connections', { bundle_id: 'mailbox', end_user: 'user-42' });
  const { cookie, path } = await authorise(first, place, link.body.data.connect_url);
  const asked = Promise.withResolvers<void>();
  provider.replaced.set('/token', () => asked.resolve());
  const received = fetch(first.filesUrl + path, { headers: { cookie }, redirect: 'manual' }).catch(() => null);
  await asked.promise;
  await first.kill();
  await received;
  const second = await start();
  const id = link.body.data.connection_id;
  const shown = await call(second, `/v1/connections/${id}`);
  assert.deepEqual([shown.body.data.status, shown.body.data.reason], ['reconnect_required', 'outcome_unknown']);
  const refused = await execute(second, id);
  assert.deepEqual([refused.status, refused.code], [401, 'CREDENTIALS_VALIDATION_ERROR']);
  provider.replaced.clear();
  const again = await call(second, `/v1/connections/${id}/link`, {});
  const flow = await authorise(second, place, again.body.data.connect_url);
  const answer = await fetch(second.filesUrl + flow.path, { headers: { cookie: flow.cookie }, redirect: 'manual' });
  const confirm = second.filesUrl + String(answer.headers.get('location'));
  await fetch(confirm, { method: 'POST', headers: { ...formHeaders, cookie: flow.cookie }, body: 'decision=connect' });
  assert.equal((await execute(second, id)).status, 200);
  const stored = JSON.parse(await succeed(command, 'bundle', 'client', 'show', 'mailbox', '--json'));
  assert.deepEqual(stored, {
    ...{ bundle_id: 'mailbox', client_id: providerClient.id },
    redirect_uri: `${publicUrl}/connect/callback`,
  });
  const caller = { environment: { QUARTERMASTER_PLUGINS_URL: second.pluginsUrl, QUARTERMASTER_API_KEY: second.key } };
  assert.match(await succeed(caller, 'connections', 'list', '--end-user', 'user-42'), /mailbox.*user-42.*active.*ada@/);
  await succeed(caller, 'connections', 'delete', id);
  assert.equal((await call(second, `/v1/connections/${id}`)).status, 404);
  await succeed(command, 'bundle', 'client', 'delete', 'mailbox');
  assert.equal((await runCommand(command, 'bundle', 'client', 'delete', 'mailbox')).code, 66);
});
