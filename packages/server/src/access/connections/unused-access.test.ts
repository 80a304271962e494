import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { providerClient } from '../../../../../test/support/identity-provider.ts';
import { type ConnectApp, leavesFor, openConnectApp, origin } from './testing/connect-app.ts';

const returnUrl = 'https://app.example/back?a=1';
const revocations = (app: ConnectApp) => app.countRequests('POST /token/revocation');
const deleteUser = (app: ConnectApp) => app.connections.removeEndUser(app.user, 'user-42');

/** Comes back from the provider, and does not decide. */
async function receive(app: ConnectApp, more: object = {}) {
  const { connect_url: url, connection_id: id } = await app.create(more);
  const begun = await app.start(url);
  const { headers, ...received } = await app.get((await app.authorise(begun.url)).href, { cookie: begun.cookie });
  const confirm = origin + String(headers.location);
  return { id, cookie: begun.cookie, confirm, received };
}

/** Agrees, and returns what the browser brings to the application. */
async function comeBack(app: ConnectApp, link?: { connect_url: string; connection_id: string }) {
  const { id, done } = await app.connect(link ?? (await app.create({ return_url: returnUrl })));
  const confirmation = new URL(leavesFor(done.body)).searchParams.get('confirmation') ?? '';
  return { id, body: { confirmation, end_user: 'user-42' } };
}

/** Replaces an endpoint by one that answers once `go` is called. */
function holdBack(app: ConnectApp, path: string, answer: (response: ServerResponse) => void) {
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.provider.replaced.set(path, (_request: IncomingMessage, response: ServerResponse) => {
    asked.resolve();
    void go.promise.then(() => answer(response.setHeader('content-type', 'application/json')));
  });
  return { asked: asked.promise, go: go.resolve };
}

async function assertNothingLeft(app: ConnectApp) {
  const profiles = await app.database.read.selectFrom('credential_profile').select('name').execute();
  assert.deepEqual(profiles, []);
  const records = await app.database.read.selectFrom('oauth_record').select('payload').execute();
  assert.doesNotMatch(JSON.stringify(records), /v1\.|ada@example/, 'neither a token nor an account is left');
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`the deletion of an end user revokes what waits for a decision and for a confirmation: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind });
    const { cookie, confirm } = await receive(app);
    assert.equal((await deleteUser(app)).length, 1);
    assert.equal(revocations(app), 1);
    const late = await app.post(confirm, { decision: 'connect' }, { cookie });
    assert.deepEqual([late.statusCode, late.headers['content-type']], [404, 'text/html; charset=utf-8']);
    const { id, body } = await comeBack(app);
    assert.equal((await deleteUser(app)).length, 1);
    assert.equal(revocations(app), 2);
    await assert.rejects(app.flow.confirm(app.user, id, body), { code: 'OBJECT_NOT_FOUND' });
    await assertNothingLeft(app);
  });

  test(`a deletion during the exchange of a code or during a refresh revokes the new tokens: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind, accessSeconds: 100 });
    const revoked: string[] = [];
    app.provider.replaced.set('/token/revocation', async (request: IncomingMessage, response: ServerResponse) => {
      revoked.push(new URLSearchParams(await text(request)).get('token') ?? '');
      response.end();
    });
    const tokens = (name: string) => `{"access_token":"a-${name}","refresh_token":"r-${name}","token_type":"bearer"}`;
    const code = holdBack(app, '/token', (response) => response.end(tokens('code')));
    const received = receive(app);
    await code.asked;
    await deleteUser(app);
    code.go();
    const { statusCode, body } = (await received).received;
    assert.deepEqual([statusCode, body.startsWith('<!doctype html>')], [404, true]);
    assert.deepEqual(revoked, ['r-code']);
    app.provider.replaced.delete('/token');
    const { id } = await app.connect();
    app.clock.offset = 101_000;
    const refresh = holdBack(app, '/token', (response) => response.end(tokens('refresh')));
    const used = app.use(id);
    await refresh.asked;
    await app.connections.remove(app.user, id);
    refresh.go();
    await assert.rejects(used, { code: 'OBJECT_NOT_FOUND' });
    assert.deepEqual([revoked.length, revoked.at(-1)], [3, 'r-refresh'], 'the stored token, and the new one');
    await assertNothingLeft(app);
  });

  test(`a deletion of one connection that was killed is completed by the next process: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind });
    const one = await app.connect();
    app.provider.person.sub = 'eve';
    const other = await app.connect();
    const revocation = holdBack(app, '/token/revocation', (response) => response.end());
    const removed = app.connections.remove(app.user, one.id);
    await revocation.asked;
    await assert.rejects(app.use(one.id), { code: 'OBJECT_NOT_FOUND' });
    await app.use(other.id);
    assert.deepEqual(await app.repository.findDeleting(), [app.project.id], 'another process finds it');
    revocation.go();
    await removed;
    assert.deepEqual(
      (await app.connections.list(app.user, {})).items.map((each) => each.connection_id),
      [other.id],
    );
  });

  test(`access to an account that another connection uses is erased, and revoked with the last one: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind });
    const { id: other } = await app.connect(await app.create({ end_user: 'user-7' }));
    const { id } = await app.connect();
    assert.deepEqual(await deleteUser(app), [{ id, provider: false }]);
    assert.equal(revocations(app), 0);
    await app.use(other);
    assert.deepEqual(await app.connections.remove(app.user, other), { id: other, provider: true });
    assert.equal(revocations(app), 1);
    await assertNothingLeft(app);
  });
}

test('an account that another one replaces is revoked, and one that connects again is not', async (t) => {
  const app = await openConnectApp(t);
  const { id, body } = await comeBack(app);
  await app.flow.confirm(app.user, id, body);
  const again = async () => {
    const link = await app.connections.link(app.user, id, returnUrl);
    return await app.flow.confirm(app.user, id, (await comeBack(app, link)).body);
  };
  await again();
  assert.equal(revocations(app), 0, 'many providers would end the new access, too');
  const { credentials } = await app.use(id);
  app.provider.person.sub = 'eve';
  assert.equal((await again()).account?.id, 'eve');
  assert.equal(revocations(app), 1);
  const headers = { authorization: `Bearer ${credentials.TOKEN}` };
  assert.equal((await fetch(`${app.provider.issuer}/me`, { headers })).status, 401, 'the old access has ended');
  await app.use(id);
  assert.equal((await app.database.read.selectFrom('credential_profile').select('id').execute()).length, 1);
});

test('access that is not confirmed in time, or whose account is unknown, is revoked', async (t) => {
  const app = await openConnectApp(t);
  const { id } = await comeBack(app);
  assert.equal((await app.connections.list(app.user, {})).items.length, 1, 'no list shows what waits');
  app.clock.offset = 35 * 60_000;
  await app.connections.sweep();
  assert.equal(revocations(app), 0);
  app.clock.offset = 41 * 60_000;
  await app.connections.sweep();
  assert.equal(revocations(app), 1);
  assert.ok((await app.events()).includes('connection.refused {"reason":"unused","provider":true}'));
  assert.equal((await app.connections.get(app.user, id)).status, 'pending');
  app.provider.replaced.set('/me', (_request: IncomingMessage, response: ServerResponse) => response.end('<html>'));
  const failed = await receive(app);
  assert.equal(failed.received.statusCode, 502);
  assert.equal(revocations(app), 2);
  const { status, reason } = await app.connections.get(app.user, failed.id);
  assert.deepEqual([status, reason], ['pending', null]);
});

test('the application sees the account before it confirms, and says when a revocation is not confirmed', async (t) => {
  const app = await openConnectApp(t);
  const { id, body } = await comeBack(app);
  const preview = await app.flow.confirm(app.user, id, { ...body, preview: true });
  assert.deepEqual([preview.status, preview.account?.label], ['pending', 'ada@example.com']);
  await assert.rejects(app.use(id), { code: 'CREDENTIALS_VALIDATION_ERROR' });
  assert.equal((await app.flow.confirm(app.user, id, body)).status, 'active');
  const used = app.flow.confirm(app.user, id, { ...body, preview: true });
  await assert.rejects(used, { code: 'REQUEST_VALIDATION_ERROR' });
  app.provider.replaced.set('/token/revocation', (_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(500).end(),
  );
  const other = await comeBack(app);
  const asVictim = app.flow.confirm(app.user, other.id, { ...other.body, end_user: 'victim', preview: true });
  await assert.rejects(asVictim, /its tokens were erased, but the provider did not confirm the revocation/);
});

test('a second link of a connection never makes it unusable before it is decided', async (t) => {
  const app = await openConnectApp(t);
  const link = await app.create();
  const second = await app.connections.link(app.user, link.connection_id, undefined);
  const { cookie, url } = await app.start(second.connect_url);
  const callback = await app.authorise(url);
  const token = holdBack(app, '/token', (response) => response.end('{"access_token":"x","token_type":"bearer"}'));
  const received = app.get(callback.href, { cookie });
  await token.asked;
  app.provider.replaced.clear();
  const { id } = await app.connect(link);
  app.provider.replaced.set('/me', (_request: IncomingMessage, response: ServerResponse) =>
    response.end('{"sub":"eve","email":"eve@example.com"}'),
  );
  token.go();
  assert.equal((await received).statusCode, 303);
  const { status, account } = await app.connections.get(app.user, id);
  assert.deepEqual([status, account?.id], ['active', 'ada']);
  await app.use(id);
});

test('a connection whose OAuth client was refused works again once the operator has set the right one', async (t) => {
  const app = await openConnectApp(t, { accessSeconds: 100 });
  const { id } = await app.connect();
  app.clock.offset = 101_000;
  await app.clients.set('calendar', providerClient.id, 'wrong');
  await assert.rejects(app.use(id), { code: 'NOT_CONFIGURED' });
  const begun = await app.connections.link(app.user, (await app.create()).connection_id, undefined);
  const refused = await app.start(begun.connect_url);
  const answer = await app.get((await app.authorise(refused.url)).href, { cookie: refused.cookie });
  assert.equal(answer.statusCode, 501);
  await app.clients.set('calendar', providerClient.id, providerClient.secret);
  assert.equal((await app.connections.get(app.user, id)).reason, null);
  await app.use(id);
  const { status } = await app.connections.get(app.user, begun.connection_id);
  assert.equal(status, 'pending', 'there is no access yet that could be tried');
});

test('a person who does not connect returns to the application with an error', async (t) => {
  const app = await openConnectApp(t);
  const { id, cookie, confirm } = await receive(app, { return_url: returnUrl });
  const cancelled = await app.post(confirm, { decision: 'cancel' }, { cookie });
  const expected = `${returnUrl}&connection_id=${id}&error=access_denied`;
  assert.deepEqual([cancelled.statusCode, leavesFor(cancelled.body)], [200, expected]);
  assert.equal(revocations(app), 1);
  app.provider.person.denies = true;
  const denied = await receive(app, { return_url: returnUrl });
  assert.equal(leavesFor(denied.received.body), `${returnUrl}&connection_id=${denied.id}&error=access_denied`);
});

test('a token that no header can carry is a fault of the provider', async (t) => {
  const app = await openConnectApp(t, { accessSeconds: 100 });
  const { id } = await app.connect();
  app.clock.offset = 101_000;
  app.provider.replaced.set('/token', (_request: IncomingMessage, response: ServerResponse) =>
    response.setHeader('content-type', 'application/json').end('{"access_token":"a\\r\\nb","token_type":"bearer"}'),
  );
  await assert.rejects(app.use(id), { code: 'SERVICE_UNAVAILABLE' });
});

test('a form that is too large is answered with a page, and an id that no URL can name is refused', async (t) => {
  const app = await openConnectApp(t);
  const { connect_url: url } = await app.create({ bundle_id: 'weather' });
  const answer = await app.post(url, { KEY: 'x'.repeat(70_000) });
  assert.equal(answer.statusCode, 413);
  assert.match(answer.body, /at most <bdi>65536<\/bdi> bytes/);
  for (const end_user of ['.', '..', 'a\nb', 'a\0', '\ud800']) {
    await assert.rejects(app.create({ end_user }), { code: 'REQUEST_VALIDATION_ERROR' }, JSON.stringify(end_user));
  }
});
