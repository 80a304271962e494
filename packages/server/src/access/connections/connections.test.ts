import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createProjectDeletionRepository } from '../../storage/repositories/project-deletions.ts';
import { type ConnectApp, leavesFor, openConnectApp, providerOrigin } from './testing/connect-app.ts';

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`a connection in ${kind}`, () => {
    test('is made in the browser with PKCE, after the person has seen application, scopes and account', async (t) => {
      const app = await openConnectApp(t, { kind });
      const link = await app.create();
      assert.deepEqual([link.status, link.account, link.end_user], ['pending', null, 'user-42']);
      await assert.rejects(app.use(link.connection_id), { code: 'CREDENTIALS_VALIDATION_ERROR' });
      const page = await app.get(link.connect_url);
      assert.equal(page.statusCode, 200);
      for (const text of ['tea', 'user-42', 'offline_access', 'Calendar &lt;b&gt;'])
        assert.ok(page.body.includes(text), text);
      const { cookie, url } = await app.start(link.connect_url);
      const asked = new URL(url);
      assert.deepEqual(
        [
          asked.origin,
          ...['response_type', 'code_challenge_method', 'prompt'].map((name) => asked.searchParams.get(name)),
        ],
        [providerOrigin, 'code', 'S256', 'consent'],
      );
      const received = await app.get((await app.authorise(url)).href, { cookie });
      assert.equal(received.statusCode, 303, received.body);
      await assert.rejects(app.use(link.connection_id), { code: 'CREDENTIALS_VALIDATION_ERROR' });
      const confirm = `https://q.example${received.headers.location}`;
      assert.match((await app.get(confirm, { cookie })).body, /ada@example\.com/);
      assert.equal((await app.post(confirm, { decision: 'connect' }, { cookie })).statusCode, 200);
      const connected = await app.connections.get(app.user, link.connection_id);
      assert.deepEqual([connected.status, connected.account], ['active', { id: 'ada', label: 'ada@example.com' }]);
      const { credentials } = await app.use(link.connection_id);
      assert.deepEqual(Object.keys(credentials), ['TOKEN']);
      const asking = { headers: { authorization: `Bearer ${credentials.TOKEN}` } };
      assert.equal((await fetch(`${app.provider.issuer}/me`, asking)).status, 200);
    });

    test('is refreshed once for many callers of several stores, and its refresh token rotates', async (t) => {
      const app = await openConnectApp(t, { kind, accessSeconds: 100 });
      const { id } = await app.connect();
      const first = (await app.use(id)).credentials.TOKEN;
      assert.equal(app.countRequests('POST /token'), 1);
      app.clock.offset = 101_000;
      const stores = Array.from({ length: 4 }, () => app.createResolve());
      const callers = stores.flatMap((store) => Array.from({ length: 5 }, () => store));
      const used = await Promise.all(
        callers.map(async (store) => await store(app.user, 'calendar', { $connection: id })),
      );
      assert.equal(app.countRequests('POST /token'), 2);
      assert.equal(new Set(used.map(({ credentials }) => credentials.TOKEN)).size, 1);
      assert.notEqual(used[0]?.credentials.TOKEN, first);
      app.clock.offset = 202_000;
      await app.use(id);
      assert.equal(app.countRequests('POST /token'), 3, 'the rotated refresh token works');
    });
  });
}

test('a connection is refreshed early, and the old token serves while the provider does not answer', async (t) => {
  const app = await openConnectApp(t, { accessSeconds: 100 });
  const { id } = await app.connect();
  const { credentials: old } = await app.use(id);
  app.provider.replaced.set('/token', (_request, response) => response.writeHead(503, { 'retry-after': '7' }).end());
  app.clock.offset = 95_000;
  assert.deepEqual((await app.use(id)).credentials, old);
  app.clock.offset = 101_000;
  await assert.rejects(app.use(id), (error: { code?: string; headers?: object }) => {
    assert.deepEqual([error.code, error.headers], ['SERVICE_UNAVAILABLE', { 'Retry-After': '7' }]);
    return true;
  });
  assert.equal(
    (await app.connections.get(app.user, id)).status,
    'active',
    'it never has to be connected again for this',
  );
  app.provider.replaced.clear();
  assert.notDeepEqual((await app.use(id)).credentials, old);
});

test('a refused refresh requires a new connection, and a refused client tells the operator', async (t) => {
  const app = await openConnectApp(t, { accessSeconds: 100 });
  const { id } = await app.connect();
  app.clock.offset = 101_000;
  await app.clients.set('calendar', 'quartermaster', 'wrong');
  await assert.rejects(app.use(id), { code: 'NOT_CONFIGURED' });
  const shown = async () => {
    const { status, reason } = await app.connections.get(app.user, id);
    return [status, reason];
  };
  assert.deepEqual(await shown(), ['misconfigured', 'invalid_client']);
  const other = await openConnectApp(t, { accessSeconds: 100 });
  const { id: otherId } = await other.connect();
  other.clock.offset = 101_000;
  other.provider.replaced.set('/token', (_request, response) => {
    // Some providers send errors with status 200.
    response.setHeader('content-type', 'application/json').end('{"error":"invalid_grant"}');
  });
  await assert.rejects(other.use(otherId), { code: 'CREDENTIALS_VALIDATION_ERROR' });
  const { status, reason } = await other.connections.get(other.user, otherId);
  assert.deepEqual([status, reason], ['reconnect_required', 'refused']);
  assert.ok((await other.events()).some((event) => event.startsWith('connection.refresh_failed')));
  other.provider.replaced.clear();
  await other.connect(await other.connections.link(other.user, otherId, undefined));
  assert.equal((await other.connections.get(other.user, otherId)).status, 'active');
  await other.use(otherId);
});

test('a refresh that did not finish is in doubt: a refusal after it is not called a revocation', async (t) => {
  const app = await openConnectApp(t, { accessSeconds: 100, timing: { claim: 1, doubt: 1 } });
  const { id } = await app.connect();
  app.clock.offset = 101_000;
  // A process that ended has left its claim, and has used the refresh token.
  assert.equal(await app.repository.claimRefresh(id, 'process that ended', -1000), 'claimed');
  app.provider.replaced.set('/token', (_request, response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
  );
  await assert.rejects(app.use(id), { code: 'CREDENTIALS_VALIDATION_ERROR' });
  const { status, reason } = await app.connections.get(app.user, id);
  assert.deepEqual([status, reason], ['reconnect_required', 'outcome_unknown']);
});

test('a deleted connection is revoked at the provider, and the connections of a deleted end user are gone', async (t) => {
  const app = await openConnectApp(t);
  const one = await app.connect();
  app.provider.person.sub = 'eve';
  const two = await app.connect();
  const { credentials } = await app.use(one.id);
  assert.deepEqual(await app.connections.remove(app.user, one.id), { id: one.id, provider: true });
  await assert.rejects(app.use(one.id), { code: 'OBJECT_NOT_FOUND' });
  const { status } = await fetch(`${app.provider.issuer}/me`, {
    headers: { authorization: `Bearer ${credentials.TOKEN}` },
  });
  assert.equal(status, 401, 'the provider accepts it no more');
  app.provider.person.sub = 'mallory';
  const other = await app.connect(await app.create({ end_user: 'user-7' }));
  assert.deepEqual(await app.connections.removeEndUser(app.user, 'user-42'), [{ id: two.id, provider: true }]);
  const { items } = await app.connections.list(app.user, {});
  assert.deepEqual(
    items.map((each) => each.connection_id),
    [other.id],
  );
  assert.deepEqual(await app.database.read.selectFrom('credential_profile').select('id').execute(), [{ id: other.id }]);
  app.provider.replaced.set('/token/revocation', (_request, response) => response.writeHead(500).end());
  assert.deepEqual(await app.connections.remove(app.user, other.id), { id: other.id, provider: false });
  assert.deepEqual((await app.connections.list(app.user, {})).items, []);
});

test('a bundle with an API key is connected with a form, and the application returns to its own page', async (t) => {
  const app = await openConnectApp(t);
  const link = await app.create({ bundle_id: 'weather', return_url: 'https://app.example/done?a=1' });
  assert.match((await app.get(link.connect_url)).body, /name="KEY" type="password"/);
  const wrong = await app.post(link.connect_url, { OTHER: 'x' });
  assert.match(wrong.body, /role="alert"/);
  const rejected = await app.post(link.connect_url, { KEY: 'wrong' });
  assert.match(rejected.body, /role="alert">.*Weather.* does not accept these credentials/);
  const away = await app.post(link.connect_url, { KEY: 'away' }, { 'accept-language': 'zh-CN' });
  assert.match(away.body, /无法检查这些凭据/);
  for (const { body } of [rejected, away]) assert.doesNotMatch(body, /text of the third party/);
  const row = await app.rows.get(app.project.id, link.connection_id);
  assert.deepEqual(app.rows.open(row).credentials, {}, 'nothing is stored before the check');
  const done = await app.post(link.connect_url, { KEY: 'key of user-42' });
  const back = new URL(leavesFor(done.body));
  assert.equal(
    back.href.replace(/&confirmation=.*/, ''),
    `https://app.example/done?a=1&connection_id=${link.connection_id}`,
  );
  await assert.rejects(app.use(link.connection_id, 'weather'), { code: 'CREDENTIALS_VALIDATION_ERROR' });
  const confirmation = back.searchParams.get('confirmation') ?? '';
  const shown = await app.flow.confirm(app.user, link.connection_id, { confirmation, end_user: 'user-42' });
  assert.equal(shown.status, 'active');
  const { credentials } = await app.use(link.connection_id, 'weather');
  assert.deepEqual(credentials, { KEY: 'key of user-42' });
  assert.equal((await app.post(link.connect_url, { KEY: 'another' })).statusCode, 403);
});

test('nothing is connected that cannot work', async (t) => {
  const app = await openConnectApp(t);
  await assert.rejects(app.create({ bundle_id: 'clock' }), { code: 'REQUEST_VALIDATION_ERROR' });
  await assert.rejects(app.create({ bundle_id: 'gone' }), { code: 'OBJECT_NOT_FOUND' });
  await assert.rejects(app.create({ scopes: ['openid', 'admin'] }), { code: 'REQUEST_VALIDATION_ERROR' });
  await assert.rejects(app.create({ return_url: 'https://evil.example/' }), { code: 'REQUEST_VALIDATION_ERROR' });
  await app.clients.remove('calendar');
  await assert.rejects(app.create(), { code: 'NOT_CONFIGURED' });
  assert.deepEqual((await app.connections.list(app.user, {})).items, []);
});

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`a deletion of an end user that was killed is completed by the next process, and nothing uses its rows: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind });
    const one = await app.connect();
    app.provider.person.sub = 'eve';
    const other = await app.connect(await app.create({ end_user: 'user-7' }));
    const [kept] = [await app.rows.get(app.project.id, one.id)];
    // A process that ends here has begun the deletion and revoked nothing.
    await app.repository.markDeleting(app.project.id, { endUser: 'user-42' });
    await assert.rejects(app.use(one.id), { code: 'OBJECT_NOT_FOUND' });
    await assert.rejects(app.connections.get(app.user, one.id), { code: 'OBJECT_NOT_FOUND' });
    assert.equal(await app.rows.save(kept, { credentials: {} }, {}), false, 'a refresh does not bring it back');
    const { items } = await app.connections.list(app.user, {});
    assert.deepEqual(
      items.map((each) => each.connection_id),
      [other.id],
    );
    assert.equal(app.countRequests('POST /token/revocation'), 0);
    await app.connections.sweep();
    assert.equal(app.countRequests('POST /token/revocation'), 1);
    assert.deepEqual(await app.database.read.selectFrom('credential_profile').select('id').execute(), [
      { id: other.id },
    ]);
    assert.ok((await app.events()).includes('connection.revoked {"provider":true}'));
  });

  test(`the deletion of a project revokes its connections before it erases their tokens, and does not wait for ever: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind });
    await app.connect();
    const profile = { name: 'own', bundleId: 'weather', encrypted: 'x', keyId: 'k', connection: null };
    const at = { createdAt: 1, updatedAt: 1, projectId: app.project.id };
    await app.repository.add({ id: app.newId('credentialProfile'), ...profile, ...at }, 10);
    const deletions = createProjectDeletionRepository(app.database);
    await deletions.begin(app.project.id, app.clock.now());
    const options = { eraseBlob: async () => {}, now: app.clock.now, signal: t.signal };
    const erased = deletions.erase(app.project.id, options);
    await app.connections.removeOfProjects(await deletions.findRunning());
    assert.equal(app.countRequests('POST /token/revocation'), 1);
    const { deleted, endedAt } = await erased;
    assert.deepEqual([deleted.credential_profiles, endedAt !== null], [1, true]);
    const alone = await openConnectApp(t, { kind });
    await alone.connect();
    const others = createProjectDeletionRepository(alone.database);
    await others.begin(alone.project.id, alone.clock.now());
    // No process serves plugins.
    const { deleted: rows } = await others.erase(alone.project.id, { ...options, revocationMs: 1 });
    assert.equal(rows.credential_profiles, 1);
    assert.equal(alone.countRequests('POST /token/revocation'), 0);
  });
}

/** A connection whose provider did not say how long its tokens live. */
async function connectWithoutLife(app: ConnectApp, more: { readonly refresh?: undefined } = {}) {
  const { id } = await app.connect();
  const row = await app.rows.get(app.project.id, id);
  const unknown = { accessExpiresAt: null, refreshAt: null };
  assert.ok(await app.rows.save(row, { ...app.rows.open(row), ...more }, unknown));
  app.clock.offset = 6000;
  const statusOf = async () => {
    const { status, reason } = await app.connections.get(app.user, id);
    return [status, reason];
  };
  return { id, statusOf };
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`an access token that is refused early is refreshed once for all callers and stores: ${kind}`, async (t) => {
    const app = await openConnectApp(t, { kind });
    const { id, statusOf } = await connectWithoutLife(app);
    const stores = Array.from({ length: 4 }, () => app.createResolve());
    const renewals = stores.flatMap((store) =>
      Array.from({ length: 5 }, async () => {
        const { credentials, renew } = await store(app.user, 'calendar', { $connection: id });
        return { old: String(credentials.TOKEN), renew };
      }),
    );
    const found = await Promise.all(renewals);
    const renewed = await Promise.all(found.map(({ old, renew }) => renew?.(old)));
    assert.equal(app.countRequests('POST /token'), 2, 'the code, and one refresh');
    const tokens = new Set(renewed.map((credentials) => String(credentials?.TOKEN)));
    assert.equal(tokens.size, 1);
    const [token = ''] = tokens;
    assert.notEqual(token, found[0]?.old);
    const { status } = await fetch(`${app.provider.issuer}/me`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(status, 200);
    assert.equal(await found[0]?.renew?.(token), null, 'a token this young is not the reason');
    assert.equal(app.countRequests('POST /token'), 2);
    assert.deepEqual(await statusOf(), ['active', null]);
  });
}

test('a refused access token without another one requires a new connection', async (t) => {
  const [app, other] = [await openConnectApp(t), await openConnectApp(t)];
  const alone = await connectWithoutLife(app, { refresh: undefined });
  const { credentials, renew } = await app.use(alone.id);
  assert.equal(await renew?.(String(credentials.TOKEN)), null);
  assert.deepEqual(await alone.statusOf(), ['reconnect_required', 'refused']);
  await assert.rejects(app.use(alone.id), { code: 'CREDENTIALS_VALIDATION_ERROR' });
  const ended = await connectWithoutLife(other);
  const used = await other.use(ended.id);
  const refuse = (status: number, body: string) =>
    other.provider.replaced.set('/token', (_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    );
  refuse(503, '');
  assert.equal(await used.renew?.(String(used.credentials.TOKEN)), null);
  assert.deepEqual(await ended.statusOf(), ['active', null], 'a provider that is away refuses nothing');
  refuse(400, '{"error":"invalid_grant"}');
  assert.equal(await used.renew?.(String(used.credentials.TOKEN)), null);
  assert.deepEqual(await ended.statusOf(), ['reconnect_required', 'refused']);
});
