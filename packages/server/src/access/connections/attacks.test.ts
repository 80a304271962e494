import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPermissions, everyPermission } from '../../platform/permissions.ts';
import { type ConnectApp, leavesFor, openConnectApp, origin } from './testing/connect-app.ts';

/** The texts that pages show for refusals. */
const texts = {
  used: /was used before/,
  unknown: /not valid, or it has expired/,
  otherBrowser: /another browser/,
  refused: /did not connect your account/,
  cancelled: /You did not connect/,
};

async function statusesOf(app: ConnectApp) {
  const { items } = await app.connections.list(app.user, {});
  return items.map(({ status }) => status);
}

test('a link works once, in one browser, for 30 minutes, and a preview of it changes nothing', async (t) => {
  const app = await openConnectApp(t);
  const link = await app.create();
  await app.get(link.connect_url);
  await app.get(link.connect_url);
  const { cookie, url } = await app.start(link.connect_url);
  const second = await app.start(link.connect_url);
  assert.deepEqual([second.answer.statusCode, second.cookie], [403, '']);
  assert.match(second.answer.body, texts.used);
  const callback = await app.authorise(url);
  for (const other of ['', cookie.replace(/=.*/, `=${'x'.repeat(43)}`)]) {
    const answer = await app.get(callback.href, { cookie: other });
    assert.deepEqual([answer.statusCode, texts.otherBrowser.test(answer.body)], [403, true]);
  }
  assert.equal(app.countRequests('POST /token'), 0, 'no code was exchanged');
  assert.equal((await app.get(callback.href, { cookie })).statusCode, 303);
  const replayed = await app.get(callback.href, { cookie });
  assert.deepEqual([replayed.statusCode, texts.used.test(replayed.body)], [403, true]);
  assert.equal(app.countRequests('POST /token'), 1);
  const late = await app.create();
  app.clock.offset = 30 * 60_000 + 1000;
  assert.deepEqual((await app.get(late.connect_url)).statusCode, 404);
  assert.match((await app.start(late.connect_url)).answer.body, texts.unknown);
  assert.deepEqual(await statusesOf(app), ['pending', 'pending']);
});

test('two browsers that open a link at once do not both continue', async (t) => {
  const app = await openConnectApp(t);
  const link = await app.create();
  const answers = await Promise.all([app.start(link.connect_url), app.start(link.connect_url)]);
  assert.deepEqual(answers.map(({ answer }) => answer.statusCode).sort(), [200, 403]);
});

test('an answer with an unknown state, of another flow, or with a code of another flow is refused', async (t) => {
  const app = await openConnectApp(t);
  const [victim, attacker] = [
    await app.start((await app.create()).connect_url),
    await app.start((await app.create()).connect_url),
  ];
  const [mine, other] = [await app.authorise(victim.url), await app.authorise(attacker.url)];
  const wrong = new URL(mine);
  wrong.searchParams.set('state', 'x'.repeat(43));
  assert.match((await app.get(wrong.href, { cookie: victim.cookie })).body, texts.unknown);
  assert.match((await app.get(other.href, { cookie: victim.cookie })).body, texts.otherBrowser);
  const swapped = new URL(mine);
  swapped.searchParams.set('code', other.searchParams.get('code') ?? '');
  const answer = await app.get(swapped.href, { cookie: victim.cookie });
  assert.match(answer.body, texts.refused, 'PKCE binds the code to its request');
  assert.match(app.lines.join(''), /"reason":"invalid_grant"/);
  assert.deepEqual(await statusesOf(app), ['pending', 'pending']);
});

test('an answer with the issuer of another provider, or without the declared one, is refused before its code is sent', async (t) => {
  const app = await openConnectApp(t);
  for (const issuer of ['https://evil.example', null]) {
    const { cookie, url } = await app.start((await app.create()).connect_url);
    const callback = await app.authorise(url);
    if (issuer === null) callback.searchParams.delete('iss');
    else callback.searchParams.set('iss', issuer);
    assert.match((await app.get(callback.href, { cookie })).body, texts.refused);
  }
  const loose = await openConnectApp(t, { oauth: { issuer: undefined } as object });
  const { cookie, url } = await loose.start((await loose.create()).connect_url);
  const callback = await loose.authorise(url);
  assert.match(
    (await loose.get(callback.href, { cookie })).body,
    texts.refused,
    'the bundle does not declare this issuer',
  );
  assert.equal(app.countRequests('POST /token') + loose.countRequests('POST /token'), 0);
});

test('a person who cancels at the provider or on the page connects nothing, and the tokens are revoked', async (t) => {
  const app = await openConnectApp(t);
  app.provider.person.denies = true;
  const denied = await app.start((await app.create()).connect_url);
  const answer = await app.get((await app.authorise(denied.url)).href, { cookie: denied.cookie });
  assert.deepEqual([answer.statusCode, texts.cancelled.test(answer.body)], [403, true]);
  app.provider.person.denies = false;
  const { cookie, url } = await app.start((await app.create()).connect_url);
  const { headers } = await app.get((await app.authorise(url)).href, { cookie });
  const confirm = origin + String(headers.location);
  assert.match((await app.post(confirm, { decision: 'cancel' }, { cookie })).body, texts.cancelled);
  assert.equal(app.countRequests('POST /token/revocation'), 1);
  assert.match((await app.post(confirm, { decision: 'connect' }, { cookie })).body, texts.used);
  assert.deepEqual(await statusesOf(app), ['pending', 'pending']);
});

test('a page of another site cannot start, decide or frame anything', async (t) => {
  const app = await openConnectApp(t);
  const link = await app.create();
  const foreign = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }];
  for (const headers of foreign) assert.equal((await app.post(link.connect_url, {}, headers)).statusCode, 403);
  const { cookie, url } = await app.start(link.connect_url);
  const { headers } = await app.get((await app.authorise(url)).href, { cookie });
  const confirm = origin + String(headers.location);
  for (const each of foreign) {
    assert.equal((await app.post(confirm, { decision: 'connect' }, { cookie, ...each })).statusCode, 403);
  }
  const page = await app.get(confirm, { cookie });
  const { 'content-security-policy': policy, 'referrer-policy': referrer, 'cache-control': cache } = page.headers;
  assert.match(String(policy), /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/);
  assert.deepEqual([referrer, cache], ['same-origin', 'no-store']);
  assert.doesNotMatch(page.body, /<script/);
  assert.deepEqual(await statusesOf(app), ['pending']);
});

test('texts of applications and accounts are shown as plain text', async (t) => {
  const app = await openConnectApp(t);
  const link = await app.create({ end_user: '<script>alert(1)</script>\u202egpj' });
  const page = await app.get(link.connect_url);
  assert.ok(page.body.includes('&lt;script&gt;alert(1)&lt;/script&gt;\ufffdgpj'));
  app.provider.person.claims = { email: '"><img src=x onerror=alert(1)>', name: 'x' };
  const { page: answer } = await app.connect(link);
  assert.ok(answer.body.includes('&quot;&gt;&lt;img src=x'));
});

/** Connects an account, and returns what the browser brings to the application. */
async function comeBack(app: ConnectApp, endUser: string) {
  const { id, done } = await app.connect(
    await app.create({ end_user: endUser, return_url: 'https://app.example/back' }),
  );
  return { id, confirmation: new URL(leavesFor(done.body)).searchParams.get('confirmation') ?? '' };
}

test('a link or a return URL that another person opens connects nothing, because the application confirms the user', async (t) => {
  const app = await openConnectApp(t);
  const { id, confirmation } = await comeBack(app, 'mallory');
  const revocations = () => app.countRequests('POST /token/revocation');
  assert.deepEqual(await statusesOf(app), ['pending']);
  await assert.rejects(app.use(id), { code: 'CREDENTIALS_VALIDATION_ERROR' });
  const other = await comeBack(app, 'victim');
  const wrong: Array<[string, string]> = [
    ['x'.repeat(43), 'mallory'],
    [other.confirmation, 'mallory'],
  ];
  for (const [given, end_user] of wrong) {
    const code = 'REQUEST_VALIDATION_ERROR';
    await assert.rejects(app.flow.confirm(app.user, id, { confirmation: given, end_user }), { code });
  }
  assert.equal(revocations(), 0);
  // The victim came back to the application, whose session names the victim.
  const asVictim = { confirmation, end_user: 'victim' };
  await assert.rejects(app.flow.confirm(app.user, id, asVictim), { code: 'PERMISSION_DENIED' });
  assert.equal(revocations(), 1, 'the access that the victim gave has ended');
  assert.ok((await app.events()).includes('connection.refused {"reason":"other_end_user"}'));
  const late = app.flow.confirm(app.user, id, { confirmation, end_user: 'mallory' });
  await assert.rejects(late, { code: 'REQUEST_VALIDATION_ERROR' }, 'it works once');
  assert.deepEqual(await statusesOf(app), ['pending', 'pending']);
  const good = { confirmation: other.confirmation, end_user: 'victim' };
  assert.equal((await app.flow.confirm(app.user, other.id, good)).status, 'active');
  await app.use(other.id);
});

test('a confirmation expires, works once, and does not change the account that is in use before', async (t) => {
  const app = await openConnectApp(t);
  const { id, confirmation } = await comeBack(app, 'user-42');
  const body = { confirmation, end_user: 'user-42' };
  const both = await Promise.allSettled([app.flow.confirm(app.user, id, body), app.flow.confirm(app.user, id, body)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const { credentials: before } = await app.use(id);
  const link = await app.connections.link(app.user, id, 'https://app.example/back');
  const again = new URL(leavesFor((await app.connect(link)).done.body)).searchParams.get('confirmation') ?? '';
  assert.deepEqual((await app.use(id)).credentials, before);
  app.clock.offset = 10 * 60_000 + 1000;
  const late = app.flow.confirm(app.user, id, { confirmation: again, end_user: 'user-42' });
  await assert.rejects(late, { code: 'REQUEST_VALIDATION_ERROR' });
});

test('a reconnection to another account says so before it is stored', async (t) => {
  const app = await openConnectApp(t);
  const { id } = await app.connect();
  app.provider.person.sub = 'eve';
  app.provider.person.claims = { email: 'eve@example.com' };
  const { page } = await app.connect(await app.connections.link(app.user, id, undefined));
  assert.match(page.body, /Until now, <bdi>ada@example\.com<\/bdi> was connected/);
});

test('only a caller of its project that may use connections and sees the bundle uses one, for its bundle', async (t) => {
  const app = await openConnectApp(t);
  const { id } = await app.connect();
  const other = { id: app.newId('project'), name: 'mint', createdAt: 1 };
  await app.projects.addProject(other, { most: 10 });
  const limited = (scopes: Parameters<typeof createPermissions>[0]['scopes'], tools: string[] | null) =>
    createPermissions({ scopes, tools, collections: null });
  const attempts: Array<[object, string]> = [
    [{ projectId: other.id, permissions: everyPermission }, 'OBJECT_NOT_FOUND'],
    [{ projectId: null }, 'APIKEY_VALIDATION_FAILED'],
    [{ permissions: limited(['plugins'], null) }, 'PERMISSION_DENIED'],
    [{ permissions: limited(['plugins', 'connections'], ['weather']) }, 'OBJECT_NOT_FOUND'],
  ];
  for (const [more, code] of attempts) {
    const caller = { ...app.user, ...more };
    await assert.rejects(async () => await app.resolve(caller, 'calendar', { $connection: id }), { code });
  }
  const wrong: Array<[string, object]> = [
    ['weather', { $connection: id }],
    ['calendar', { $connection: 7 }],
    ['calendar', { $connection: id, TOKEN: 'x' }],
    ['calendar', { $connection: { end_user: 'user-42' } }],
  ];
  for (const [bundle, credentials] of wrong) {
    const code = 'REQUEST_VALIDATION_ERROR';
    await assert.rejects(async () => await app.resolve(app.user, bundle, { ...credentials }), { code });
  }
  await assert.rejects(app.connections.get({ ...app.user, projectId: other.id }, id), { code: 'OBJECT_NOT_FOUND' });
  await assert.rejects(app.connections.remove({ ...app.user, projectId: other.id }, id), { code: 'OBJECT_NOT_FOUND' });
  assert.deepEqual(await app.connections.removeEndUser({ ...app.user, projectId: other.id }, 'user-42'), []);
});

test('the credentials of one connection do not decrypt in the row of another', async (t) => {
  const app = await openConnectApp(t);
  const [mine, other] = [await app.connect(), await app.connect()];
  const [row, another] = [await app.rows.get(app.project.id, mine.id), await app.rows.get(app.project.id, other.id)];
  assert.ok(await app.repository.replace(row, another));
  await assert.rejects(app.use(mine.id), { code: 'INTERNAL_SERVER_ERROR' });
});

test('unusual answers of a provider give no connection, or one with a bounded life', async (t) => {
  const app = await openConnectApp(t, { oauth: { account: undefined } as object });
  const refused = [
    '<html>',
    '{"access_token":""}',
    '[]',
    `{"access_token":"${'x'.repeat(9000)}"}`,
    '{"ok":false,"error":"bad_client_secret"}',
  ];
  for (const body of refused) {
    app.provider.replaced.set('/token', (_request, response) =>
      response.setHeader('content-type', 'application/json').end(body),
    );
    const { cookie, url } = await app.start((await app.create()).connect_url);
    const answer = await app.get((await app.authorise(url)).href, { cookie });
    assert.ok(answer.statusCode >= 500, `${body.slice(0, 30)}: ${answer.statusCode}`);
  }
  const lives: Array<[string, boolean]> = [
    ['"3600"', true],
    ['3600', true],
    ['-1', false],
    ['1e18', false],
    ['"soon"', false],
    ['null', false],
    ['true', false],
  ];
  for (const [life, isKnown] of lives) {
    app.provider.replaced.set('/token', (_request, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(`{"access_token":"t-${life.length}","token_type":"BOT","expires_in":${life}}`),
    );
    const { id, done } = await app.connect();
    assert.equal(done.statusCode, 200, life);
    const row = await app.rows.get(app.project.id, id);
    assert.equal(row.connection.accessExpiresAt !== null, isKnown, life);
  }
});

test('no secret is in logs, metrics, events or links of the database', async (t) => {
  const app = await openConnectApp(t, { accessSeconds: 100 });
  const link = await app.create();
  const { id, callback, cookie } = await app.connect(link);
  const { credentials: first } = await app.use(id);
  app.clock.offset = 101_000;
  const { credentials: second } = await app.use(id);
  await app.connections.remove(app.user, id);
  const secrets = [
    ...[first.TOKEN, second.TOKEN, callback.searchParams.get('code'), cookie.split('=')[1]],
    ...[link.connect_url.split('/').at(-1), callback.searchParams.get('state')],
  ].map(String);
  const records = await app.database.read.selectFrom('oauth_record').selectAll().execute();
  const places = {
    log: app.lines.join(''),
    metrics: await app.registry.metrics(),
    events: String(await app.events()),
    records: JSON.stringify(records),
  };
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets) assert.ok(secret.length > 20 && !text.includes(secret), `${place}: ${secret}`);
  }
  assert.match(places.metrics, /quartermaster_connections_total\{event="refreshed"\} 1/);
});

test('a process that ends between the answer of the provider and storing leaves a connection to repeat', async (t) => {
  const app = await openConnectApp(t);
  const { cookie, url } = await app.start((await app.create()).connect_url);
  const callback = await app.authorise(url);
  const asked = Promise.withResolvers<void>();
  // The provider has used the code, but its answer arrives nowhere.
  app.provider.replaced.set('/token', () => asked.resolve());
  const received = app.get(callback.href, { cookie });
  await asked.promise;
  const { items } = await app.connections.list(app.user, {});
  assert.deepEqual([items[0]?.status, items[0]?.reason], ['reconnect_required', 'outcome_unknown']);
  await app.outbound.close();
  await received.catch(() => {});
});
