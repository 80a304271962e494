import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { consoleTokenHeader, csrfHeader } from '@quartermaster/contract';
import fc from 'fast-check';
import { serve } from '../../../../../test/support/http.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createAuditRepository } from '../../storage/repositories/audit-repository.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { createAccessTokens, type SentRequest } from './access-tokens.ts';
import { createResources } from './resources.ts';
import { callback, clientId, issuer, openOauthApp } from './testing/oauth-app.ts';
import { createFlow } from './testing/oauth-flow.ts';

const errorOf = (answer: { json(): { error?: unknown } }) => answer.json().error;
const locationOf = (answer: { headers: Record<string, unknown> }) => URL.parse(String(answer.headers.location ?? ''));

test('a code is sent to no redirect URI but the registered ones', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize } = createFlow(opened);
  const refused = [
    `${callback}/x`,
    `${callback}?x=1`,
    `${callback}#x`,
    'https://user@app.example/callback',
    'https://app.example.evil.example/callback',
    'HTTPS://app.example/callback',
    'https://app.example/%2e%2e/callback',
    'https://app.example\\@evil.example/callback',
    'https://evil.example/callback',
    'http://app.example/callback',
    'http://localhost.evil.example/cb',
    'http://127.0.0.1.evil/cb',
    'http://[::1]:1/other',
    'http://localhost:1/cb/x',
    'javascript://x/%0aalert(1)',
  ];
  for (const redirect_uri of refused) {
    const answer = await authorize({ redirect_uri });
    assert.equal(answer.statusCode, 400, redirect_uri);
    assert.equal(answer.headers.location, undefined, redirect_uri);
    assert.match(answer.body, /^The application cannot sign in: invalid_redirect_uri\./);
  }
  assert.equal(
    (await authorize({ redirect_uri: 'http://localhost:51234/cb' })).statusCode,
    303,
    'any port of this machine',
  );
});

test('an application is refused for redirect URIs that a browser or another program would interpret', async (t) => {
  const { app, documents } = await openOauthApp(t);
  const refused = [
    'javascript:alert(1)',
    'javascript://x/y',
    'data:text/html,x',
    'file:///etc/passwd',
    'http://10.0.0.1/cb',
    'http://app.example/cb',
    'https://a@app.example/cb',
    'https://app.example/cb#x',
    'https://app.example/../cb',
    `https://app.example/${'x'.repeat(500)}`,
    'https:///x',
    'https://*.app.example/cb',
    'https://app.example%2f.evil.example/cb',
    'intent://x',
    'ms-settings://x',
    'chrome-extension://abc/x',
    'a://x',
    'claude.ai:///cb',
    '',
    7,
  ];
  for (const [index, uri] of refused.entries()) {
    const payload = { redirect_uris: [callback, uri] };
    // Each registration comes from another address, because one address may send twenty.
    const answer = await app.inject({
      method: 'POST',
      url: '/oauth/register',
      payload,
      remoteAddress: `10.0.0.${index}`,
    });
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_redirect_uri'], String(uri));
    const id = `https://app.example/${index}.json`;
    documents.set(id, { text: JSON.stringify({ client_id: id, redirect_uris: [uri] }) });
    const asked = await app.inject({
      url: `/oauth/authorize?${new URLSearchParams({ client_id: id, redirect_uri: String(uri) })}`,
    });
    assert.deepEqual([asked.statusCode, asked.headers.location], [400, undefined], String(uri));
  }
});

test('a code needs PKCE with S256 and the verifier of its own request', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize, callbackOf, exchange, pkce, call } = createFlow(opened);
  const wrong = [
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge_method: 'plain' },
    { code_challenge: 'x'.repeat(42) },
  ];
  for (const changes of wrong) {
    const url = locationOf(await authorize(changes));
    assert.deepEqual([url?.searchParams.get('error'), url?.searchParams.get('iss')], ['invalid_request', issuer]);
    assert.equal(url?.searchParams.get('code'), null);
  }
  for (const code_verifier of [undefined, '', 'y'.repeat(43), createFlow(opened).pkce.verifier]) {
    const code = (await callbackOf()).searchParams.get('code') ?? '';
    const answer = await exchange(code, { code_verifier });
    assert.deepEqual([answer.statusCode, errorOf(answer)], [400, 'invalid_grant'], String(code_verifier));
    const right = await exchange(code, { code_verifier: pkce.verifier });
    if (right.statusCode === 200) assert.equal((await call(right.json().access_token)).statusCode, 200);
  }
});

test('a code that is used twice ends its tokens, also when ten requests use it at once', async (t) => {
  const opened = await openOauthApp(t);
  const { callbackOf, exchange, call, refresh, signIn } = createFlow(opened);
  const { code, access_token, refresh_token } = await signIn();
  assert.equal((await call(access_token)).statusCode, 200);
  assert.equal(errorOf(await exchange(code)), 'invalid_grant');
  opened.clock.offset = 1000;
  assert.equal((await call(access_token)).statusCode, 401);
  assert.equal(errorOf(await refresh(refresh_token)), 'invalid_grant');
  const other = (await callbackOf()).searchParams.get('code') ?? '';
  const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(other)));
  const [won, ...more] = answers.filter(({ statusCode }) => statusCode === 200);
  assert.ok(more.length === 0, 'at most one succeeds');
  opened.clock.offset = 3000;
  if (won !== undefined) assert.equal((await call(won.json().access_token)).statusCode, 401);
  const ended = opened.lines.filter((line) => line.includes('"event":"application_ended_by_reuse"'));
  assert.deepEqual(
    ended.map((line) => JSON.parse(line).reason),
    ['code_reused', 'code_reused'],
    'the log and the audit log name each once',
  );
});

test('a code works only for its application, with its redirect URI, and for a minute', async (t) => {
  const opened = await openOauthApp(t);
  const { callbackOf, exchange } = createFlow(opened);
  const codeOf = async () => (await callbackOf()).searchParams.get('code') ?? '';
  const other = 'https://app.example/other.json';
  opened.documents.set(other, { text: JSON.stringify({ client_id: other, redirect_uris: [callback] }) });
  const kept = await codeOf();
  assert.equal(errorOf(await exchange(kept, { resource: `${issuer}/mcp/weather` })), 'invalid_target');
  assert.equal((await exchange(kept, { resource: `${issuer}/mcp` })).statusCode, 200, 'the code was not used');
  for (const changes of [{ client_id: other }, { redirect_uri: 'http://localhost/cb' }, { redirect_uri: undefined }]) {
    const answer = await exchange(await codeOf(), changes);
    assert.ok(['invalid_grant', 'invalid_request'].includes(String(errorOf(answer))), answer.body);
  }
  assert.equal(errorOf(await exchange(await codeOf(), { client_id: 'unknown' })), 'invalid_client');
  const late = await codeOf();
  opened.clock.offset = 61_000;
  assert.equal(errorOf(await exchange(late)), 'invalid_grant');
});

test('a refresh token works five times at once, and the whole grant ends when it is used after a minute', async (t) => {
  const opened = await openOauthApp(t);
  const { refresh, signIn, call } = createFlow(opened);
  const { refresh_token } = await signIn();
  const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(refresh_token)));
  const pairs = answers.map((answer) => answer.json());
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    Array(5).fill(200),
  );
  assert.equal(new Set(pairs.map((pair) => pair.refresh_token)).size, 5);
  for (const pair of pairs) assert.equal((await refresh(pair.refresh_token)).statusCode, 200, 'each sibling works');
  for (let used = 5; used < 10; used += 1) assert.equal((await refresh(refresh_token)).statusCode, 200);
  assert.equal(errorOf(await refresh(refresh_token)), 'invalid_grant', 'the eleventh');
  assert.equal((await call(pairs[0].access_token)).statusCode, 200, 'and the grant lives');
  opened.clock.offset = 61_000;
  assert.equal(errorOf(await refresh(refresh_token)), 'invalid_grant');
  opened.clock.offset = 62_000;
  assert.equal((await call(pairs[0].access_token)).statusCode, 401);
  assert.equal(errorOf(await refresh(pairs[4].refresh_token)), 'invalid_grant');
  const events = await createAuditRepository(opened.database).list(null, { action: 'application.ended_by_reuse' });
  assert.deepEqual(
    events.items.map(({ actor_kind, details }) => [actor_kind, details]),
    [['application', { reason: 'token_reused' }]],
  );
  assert.equal(
    (await createAuditRepository(opened.database).list(null, { action: 'application.revoked' })).items.length,
    0,
  );
});

test('siblings of siblings share one bound: a consent has ten unused refresh tokens', async (t) => {
  const opened = await openOauthApp(t);
  const { refresh, signIn, call } = createFlow(opened);
  const { refresh_token } = await signIn();
  const siblings = await Promise.all(Array.from({ length: 10 }, () => refresh(refresh_token)));
  let last = siblings[0]?.json();
  for (let count = 0; count < 25; count += 1) {
    const answer = await refresh(siblings[count % 3]?.json().refresh_token);
    if (answer.statusCode === 200) last = answer.json();
  }
  const unused = opened.database.read.selectFrom('oauth_record').where('consumed_at', 'is', null);
  const live = await unused.where('model', '=', 'RefreshToken').select('hash').execute();
  assert.equal(live.length, 10);
  assert.equal((await refresh(last.refresh_token)).statusCode, 200, 'the newest works');
  assert.equal((await call(last.access_token)).statusCode, 200);
});

test('a refresh for more scopes, another server or another application is refused and does not use the token', async (t) => {
  const opened = await openOauthApp(t);
  const { refresh, signIn } = createFlow(opened);
  const other = 'https://app.example/other.json';
  opened.documents.set(other, { text: JSON.stringify({ client_id: other, redirect_uris: [callback] }) });
  const { refresh_token } = await signIn({ scope: 'collections:read' }, { scopes: ['collections:read'] });
  assert.equal(errorOf(await refresh(refresh_token, { scope: 'collections:read files' })), 'invalid_scope');
  assert.equal(errorOf(await refresh(refresh_token, { resource: `${issuer}/mcp/weather` })), 'invalid_target');
  assert.equal(errorOf(await refresh(refresh_token, { resource: 'https://other.example/mcp' })), 'invalid_target');
  assert.equal(errorOf(await refresh(refresh_token, { client_id: other })), 'invalid_grant');
  opened.clock.offset = 120_000;
  const answer = await refresh(refresh_token, { resource: `${issuer}/mcp`, scope: 'collections:read' });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal(answer.json().scope, 'collections:read');
});

test('a token is accepted by the server that it was made for, and nowhere else', async (t) => {
  const opened = await openOauthApp(t);
  const { signIn, call } = createFlow(opened);
  const one = await signIn({ resource: `${issuer}/mcp/collections/coll1` }, { scopes: ['collections:read'] });
  const [only] = await opened.repository.listGrants(null, Date.now());
  assert.deepEqual(only?.collections, ['coll1'], 'the consent names the collection of its server');
  const all = await signIn();
  const outside = ['/mcp', '/mcp/collections/coll2', '/mcp/collections/coll10', '/mcp/weather', '/v1/execute'];
  const bodies = new Set<string>();
  for (const url of outside) {
    const answer = await call(one.access_token, url);
    assert.equal(answer.statusCode, 401, url);
    bodies.add(answer.json().error.message);
  }
  assert.equal((await call(one.access_token, '/mcp/collections/coll1/')).statusCode, 404, 'the test serves no slash');
  assert.equal((await call(one.access_token, '/mcp/collections/coll1?x=1')).statusCode, 200);
  assert.equal((await call(all.access_token, '/mcp/collections/coll1')).statusCode, 200, 'what is below is included');
  const plugins = await signIn({ resource: 'https://p.example/mcp' });
  const others = [
    plugins.access_token,
    all.refresh_token,
    all.code,
    `qmt_${'a'.repeat(43)}`,
    'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
  ];
  for (const token of others) {
    const answer = await call(token);
    assert.equal(answer.statusCode, 401, token);
    bodies.add(answer.json().error.message);
  }
  assert.equal(bodies.size, 1, 'every refusal is the same');
  const servers = new URLSearchParams([
    ['resource', `${issuer}/mcp`],
    ['resource', 'https://p.example/mcp'],
  ]);
  const answer = await createFlow(opened).authorize({ resource: undefined }, `&${servers}`);
  assert.equal(locationOf(answer)?.searchParams.get('error'), 'invalid_target');
});

test('on this machine, a token works at the port for which it was made, and no other port can have one', async (t) => {
  const ports = { files: ['http://127.0.0.1:8080'], plugins: ['http://127.0.0.1:8081'] };
  const opened = await openOauthApp(t, { publicUrls: { files: null, plugins: null }, urlsOf: (name) => ports[name] });
  const { authorize, signIn, call } = createFlow(opened);
  const foreign = ['127.0.0.1:9999', 'localhost:1', '127.0.0.1', '127.0.0.2:8080', '[::1]:8081', 'localhost:808'];
  for (const host of foreign) {
    const answer = locationOf(await authorize({ resource: `http://${host}/mcp` }));
    assert.equal(answer?.searchParams.get('error'), 'invalid_target', host);
  }
  const { clock, repository, resources } = opened;
  const plugins = createAccessTokens({ repository, clock, resources, address: 'plugins' });
  for (const [own, other] of [
    ['127.0.0.1:8080', 'localhost:8081'],
    ['localhost:8081', '127.0.0.1:8080'],
  ] as const) {
    const { access_token } = await signIn({ resource: `http://${own}/mcp` });
    const authorization = `Bearer ${access_token}`;
    const isOfFiles = own.endsWith('8080');
    for (const host of [own, other, 'localhost:9999', 'q.example']) {
      assert.equal((await call(access_token, '/mcp', { host })).statusCode, isOfFiles ? 200 : 401, `${own} ${host}`);
      const sent = plugins.callerOf({
        url: '/mcp',
        raw: {},
        headers: { host, authorization },
      } as unknown as SentRequest);
      if (isOfFiles) await assert.rejects(sent, `${own} ${host}`);
      else await sent;
    }
  }
  const shared = createResources({ publicUrls: { files: issuer, plugins: null }, urlsOf: (name) => ports[name] });
  const read = (url: string) => shared.read(url)?.id ?? null;
  assert.equal(read('http://localhost:8080/mcp'), null, 'the files address has a public URL');
  assert.equal(read('http://localhost:8081/mcp'), 'http://localhost:8081/mcp');
  const alone = createResources({ publicUrls: { files: issuer, plugins: null }, urlsOf: () => [] });
  assert.equal(alone.read('http://localhost:8081/mcp'), null, 'this process does not listen there');
});

test('nobody but the administrator in the same browser decides, and only from the page', async (t) => {
  const opened = await openOauthApp(t);
  const { begin, details, decide, allowed } = createFlow(opened);
  const { person } = opened;
  const { id, cookie } = await begin();
  const token = { [consoleTokenHeader]: person.headers[consoleTokenHeader] };
  const refusals = [
    [{ ...token }, 403], // a form of another page sends no header
    [{ ...person.headers, origin: 'https://evil.example' }, 403],
    [{ ...person.headers, 'sec-fetch-site': 'cross-site' }, 403],
    [{ [csrfHeader]: '1' }, 401],
  ] as const;
  for (const [headers, status] of refusals) {
    assert.equal((await decide(id, cookie, allowed, headers)).statusCode, status);
  }
  const form = await opened.app.inject({
    method: 'POST',
    url: `/oauth/requests/${id}/decision`,
    headers: {
      ...person.headers,
      cookie: `${person.cookie}; ${cookie}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: 'decision=allow',
  });
  assert.equal(form.statusCode, 415);
  const theirs = await begin();
  assert.equal((await details(id, '')).statusCode, 404, 'a link that somebody sent');
  assert.equal((await details(id, theirs.cookie)).statusCode, 404);
  assert.equal((await decide(id, theirs.cookie, allowed)).statusCode, 404);
  assert.equal(
    (await opened.app.inject({ url: `/oauth/authorize/${id}` })).statusCode,
    400,
    'the request is not decided',
  );
  assert.equal((await opened.repository.listGrants(null, Date.now())).length, 0, 'nothing was granted');
  assert.equal((await details(id, cookie)).statusCode, 200);
  const decisions = await Promise.all(Array.from({ length: 6 }, () => decide(id, cookie, allowed)));
  assert.deepEqual(decisions.map(({ statusCode }) => statusCode).sort(), [200, ...Array(5).fill(404)], 'decided once');
  const continued = await Promise.all(
    Array.from({ length: 6 }, () => opened.app.inject({ url: `/oauth/authorize/${id}`, headers: { cookie } })),
  );
  const codes = continued.flatMap((answer) => locationOf(answer)?.searchParams.get('code') ?? []);
  assert.equal(codes.length, 1, 'and yields one code');
  const given = async () => (await opened.database.read.selectFrom('oauth_grant').select('id').execute()).length;
  assert.deepEqual([(await opened.repository.listGrants(null, Date.now())).length, await given()], [0, 1], 'no token');
  await opened.repository.sweep(Date.now() + 86_500_000);
  assert.equal(await given(), 0, 'a consent whose code is not exchanged disappears');
});

test('a person grants less than the application asks for, never more, and may refuse', async (t) => {
  const opened = await openOauthApp(t);
  const { begin, decide, callbackOf, allowed, signIn, call } = createFlow(opened);
  const request = await begin({ scope: 'plugins' });
  for (const wrong of [
    { scopes: ['collections'] },
    { scopes: ['files:read'] },
    { scopes: ['admin'] },
    { scopes: [] },
    { tools: [] },
    { collections: [] },
    { project_id: 'projx' },
  ]) {
    const answer = await decide(request.id, request.cookie, { ...allowed, scopes: ['plugins'], ...wrong });
    assert.ok([404, 422].includes(answer.statusCode), answer.body);
  }
  const { access_token, scope } = await signIn({ scope: 'plugins' }, { scopes: ['plugins:read'], tools: ['weather'] });
  assert.equal(scope, 'plugins:read');
  assert.deepEqual((await call(access_token)).json().tools, ['weather']);
  const url = await callbackOf({}, { decision: 'deny' });
  assert.deepEqual(
    [url.searchParams.get('error'), url.searchParams.get('iss'), url.searchParams.get('code')],
    ['access_denied', issuer, null],
  );
});

test('a known application asks again, and never without a page', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize, begin, details, signIn } = createFlow(opened);
  await signIn();
  const none = locationOf(await authorize({ prompt: 'none' }));
  assert.deepEqual([none?.searchParams.get('error'), none?.searchParams.get('iss')], ['consent_required', issuer]);
  for (const [scope, offered] of [
    ['admin openid', ['collections:read', 'plugins:read']],
    ['offline_access', ['collections:read', 'plugins']],
  ] as const) {
    const { id, cookie } = await begin({ scope });
    assert.deepEqual((await details(id, cookie)).json().data.scopes, offered, scope);
  }
  for (const changes of [{}, { prompt: 'consent' }, { prompt: 'login' }, { scope: 'files' }]) {
    assert.match(String((await authorize(changes)).headers.location), /^\/oauth\/requests\//);
  }
});

test('what an application calls itself is shown as plain text, and its host comes from its document', async (t) => {
  const opened = await openOauthApp(t);
  const { begin, details } = createFlow(opened);
  const name = `Claude\u202e”"<img src=x>\u0007${'a'.repeat(62)}👩👩`;
  opened.documents.set(clientId, {
    text: JSON.stringify({ client_id: clientId, client_name: name, redirect_uris: [callback] }),
  });
  const { id, cookie } = await begin();
  const { data } = (await details(id, cookie)).json();
  assert.equal(data.name, `Claude<img src=x>${'a'.repeat(62)}👩`, 'no quotes, and no part of a character');
  assert.deepEqual(
    [data.host, data.redirect_to, data.redirect_kind, data.resource],
    ['app.example', 'app.example', 'site', `${issuer}/mcp`],
  );
  assert.deepEqual(data.scopes, ['collections:read', 'plugins']);
});

test('a registered application is shown without a host, whatever its redirect URIs name', async (t) => {
  const opened = await openOauthApp(t);
  const { begin, details } = createFlow(opened);
  for (const [uri, redirect] of [
    ['claude.ai://cb', { redirect_to: 'claude.ai:', redirect_kind: 'program' }],
    ['https://claude.ai/api/mcp/auth_callback', { redirect_to: 'claude.ai', redirect_kind: 'site' }],
  ] as const) {
    const payload = { redirect_uris: [uri], client_name: 'claude.ai' };
    const registered = (await opened.app.inject({ method: 'POST', url: '/oauth/register', payload })).json();
    const { id, cookie } = await begin({ client_id: registered.client_id, redirect_uri: uri });
    const { host, redirect_to, redirect_kind } = (await details(id, cookie)).json().data;
    assert.deepEqual([host, { redirect_to, redirect_kind }], [null, redirect], uri);
  }
});

test('a metadata document that is not what its URL says is refused, and asked for once a minute', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize } = createFlow(opened);
  const good = { client_id: clientId, redirect_uris: [callback] };
  const wrong = [
    { text: JSON.stringify({ ...good, client_id: `${clientId}?` }) },
    { text: JSON.stringify({ ...good, client_secret: 'x' }) },
    { text: JSON.stringify({ ...good, token_endpoint_auth_method: 'client_secret_basic' }) },
    {
      text: JSON.stringify({
        ...good,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: 'https://169.254.169.254/',
      }),
    },
    { text: JSON.stringify({ ...good, redirect_uris: [] }) },
    { text: `{"client_id":"${clientId}","client_id":"https://other.example/","redirect_uris":["${callback}"]}` },
    { text: JSON.stringify(good), status: 404 },
    { text: JSON.stringify(good), headers: { 'content-type': 'text/html' } },
    { text: '[' },
  ];
  for (const [index, document] of wrong.entries()) {
    opened.clock.offset = index * 61_000;
    opened.documents.set(clientId, document);
    for (const _ of [1, 2]) {
      const answer = await authorize();
      assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined], document.text);
      assert.match(answer.body, /invalid_client/);
    }
    assert.equal(opened.asked.length, index + 1, 'a failure is remembered for a minute');
  }
  const ids = [
    'http://app.example/c',
    'https://app.example/',
    'https://127.0.0.1/c',
    'https://[::1]/c',
    'https://localhost/c',
    'https://app.example:22/c',
    'https://a@app.example/c',
    'https://app.example/c#x',
    'https://app.example/a/../c',
    'https://APP.example/c',
    `https://app.example/${'x'.repeat(2048)}`,
  ];
  for (const client_id of ids) assert.equal((await authorize({ client_id })).statusCode, 400, client_id);
  assert.equal(opened.asked.length, wrong.length, 'no other address is asked');
});

test('a document that changes is read again, and one whose host is away works for another day', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize, signIn, refresh } = createFlow(opened);
  const { refresh_token } = await signIn();
  const moved = 'https://app.example/moved';
  opened.documents.set(clientId, { text: JSON.stringify({ client_id: clientId, redirect_uris: [moved] }) });
  assert.equal((await authorize()).statusCode, 303, 'fresh for five minutes');
  opened.clock.offset = 301_000;
  assert.equal((await authorize()).statusCode, 400, 'the former redirect URI is gone');
  assert.ok(
    opened.lines.some((line) => line.includes('"event":"client_changed"')),
    'the log names the change',
  );
  opened.documents.delete(clientId);
  opened.clock.offset = 3_600_000;
  assert.equal((await refresh(refresh_token)).statusCode, 200);
});

test('a host is asked at most ten times a minute, whatever applications a stranger names', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize } = createFlow(opened);
  const asked = async (host: string, count: number) => {
    for (let i = 0; i < count; i += 1) await authorize({ client_id: `https://${host}/${i}` });
  };
  opened.clock.offset = 60_000 - (Date.now() % 60_000);
  await asked('victim.example', 30);
  assert.equal(opened.asked.length, 10);
  for (let host = 0; host < 12; host += 1) await asked(`h${host}.example`, 8);
  assert.equal(opened.asked.length, 60, 'and all hosts together sixty times');
});

test('requests for tokens are limited by address', async (t) => {
  const opened = await openOauthApp(t);
  opened.clock.offset = 60_000 - (Date.now() % 60_000);
  const ask = (remoteAddress: string, url = '/oauth/token') =>
    opened.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=authorization_code&code=x&client_id=${encodeURIComponent(clientId)}`,
      remoteAddress,
    });
  const statuses = new Map<number, number>();
  for (let i = 0; i < 302; i += 1) {
    const { statusCode } = await ask('10.1.1.1');
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(statuses), { 400: 300, 429: 2 });
  const refused = await ask('10.1.1.1');
  assert.deepEqual([errorOf(refused), Number(refused.headers['retry-after']) > 0], ['temporarily_unavailable', true]);
  assert.equal(refused.headers['access-control-allow-origin'], '*', 'a page can read the answer');
  assert.notEqual((await ask('10.1.1.2')).statusCode, 429);
  assert.notEqual((await ask('10.1.1.1', '/oauth/revoke')).statusCode, 429, 'a person can always revoke');
  opened.clock.offset += 60_000;
  assert.equal((await ask('10.1.1.1')).statusCode, 400);
});

test('registrations are limited by address and by number, and unused ones are removed after a day', async (t) => {
  const opened = await openOauthApp(t);
  const register = (remoteAddress: string) =>
    opened.app.inject({
      method: 'POST',
      url: '/oauth/register',
      payload: { redirect_uris: [callback] },
      remoteAddress,
    });
  const statuses = [];
  for (let i = 0; i < 25; i += 1) statuses.push((await register('10.1.1.1')).statusCode);
  assert.deepEqual(statuses, [...Array(20).fill(201), ...Array(5).fill(429)]);
  assert.equal((await register('10.1.1.2')).statusCode, 201);
  const origin = 'https://evil.example';
  const post = (headers: object, payload: object = { redirect_uris: [callback] }) =>
    opened.app.inject({
      method: 'POST',
      url: '/oauth/register',
      remoteAddress: '10.1.1.3',
      payload,
      headers: { ...headers },
    });
  for (let i = 0; i < 25; i += 1) await post({}, {});
  assert.equal((await post({})).statusCode, 201, 'refused bodies do not count');
  for (let i = 0; i < 20; i += 1) assert.equal((await post({ origin })).statusCode, 201);
  assert.equal(
    (await post({ origin: 'https://evil2.example' })).statusCode,
    429,
    'all pages of other sites share a limit',
  );
  assert.equal((await post({})).statusCode, 201, 'and use up no other');
  assert.equal((await post({ origin: 'http://localhost:6274' })).statusCode, 201);
  const large = await opened.app.inject({
    method: 'POST',
    url: '/oauth/register',
    payload: { redirect_uris: [callback], x: 'y'.repeat(17_000) },
  });
  assert.deepEqual([large.statusCode, errorOf(large)], [413, 'invalid_client_metadata']);
  for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/json', undefined]) {
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await opened.app.inject({ method: 'POST', url: '/oauth/token', headers, payload: Buffer.from('{') });
    assert.deepEqual([answer.statusCode, errorOf(answer)], [415, 'invalid_request'], type ?? 'no type');
    assert.match(answer.json().error_description, /application\/x-www-form-urlencoded/);
  }
  await opened.repository.sweep(Date.now() + 86_400_001);
  assert.equal((await opened.database.read.selectFrom('oauth_client').select('id').execute()).length, 0);
});

test('guesses of tokens and requests find nothing, and a token in the query is not read or logged', async (t) => {
  const opened = await openOauthApp(t);
  const { details, signIn, refresh } = createFlow(opened);
  const { access_token, refresh_token, code } = await signIn();
  for (const [url, payload] of [
    ['/mcp', { access_token }],
    [`/mcp?access_token=${access_token}`, {}],
  ] as const) {
    const answer = await opened.app.inject({ method: 'POST', url, headers: { host: 'q.example' }, payload });
    assert.equal(answer.statusCode, 401, url);
    assert.ok(!JSON.stringify(answer.headers).includes(access_token), 'the challenge repeats no token');
  }
  for (const guess of ['x', '../x', '%00', 'a'.repeat(64)]) {
    const { statusCode } = await details(encodeURIComponent(guess), `qm_oauth_request=${guess}`);
    assert.ok([400, 404].includes(statusCode), guess);
  }
  assert.equal(errorOf(await refresh(`qmr_${'x'.repeat(43)}`)), 'invalid_grant');
  const rows = await Promise.all(
    (['oauth_record', 'oauth_grant', 'oauth_client'] as const).map((table) =>
      opened.database.read.selectFrom(table).selectAll().execute(),
    ),
  );
  const everything = [...opened.lines, await opened.registry.metrics(), JSON.stringify(rows)].join('\n');
  for (const secret of [access_token, refresh_token, code, opened.person.headers[consoleTokenHeader]]) {
    assert.ok(!everything.includes(secret), 'no secret in the log at level trace, in metrics, or in rows');
  }
});

test('documents are fetched from public addresses only, without redirects, and up to 16 KiB', async (t) => {
  const paths: string[] = [];
  const document = (id: string, more = '') => JSON.stringify({ client_id: id, redirect_uris: [callback], more });
  const origin = await serve(t, (request, response) => {
    const { url = '' } = request;
    paths.push(url);
    const id = `https://app.example${url}`;
    if (url === '/redirect') return response.writeHead(302, { location: '/good' }).end();
    const json = { 'content-type': 'application/json' };
    if (url === '/large') return response.writeHead(200, json).end(document(id, 'x'.repeat(17_000)));
    if (url !== '/bomb') return response.writeHead(200, json).end(document(id));
    const bomb = gzipSync(document(id, 'x'.repeat(2 ** 24)));
    return response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb);
  });
  const inside: Readonly<Record<string, string>> = {
    'loopback.example': '127.0.0.1',
    'mapped.example': '::ffff:127.0.0.1',
    'metadata.example': '169.254.169.254',
    'private.example': '10.0.0.1',
    'local.example': 'fd00::1',
  };
  const broker = createBroker({
    overrides: new Map([['https://app.example', origin]]),
    allow: [],
    version: '1',
    logger: createLogger('silent'),
    resolve: async (host) => [{ address: inside[host] ?? '', family: isIP(inside[host] ?? '') }],
  });
  const opened = await openOauthApp(t, { outbound: broker });
  const { authorize } = createFlow(opened);
  assert.equal((await authorize({ client_id: 'https://app.example/good' })).statusCode, 303);
  for (const path of ['redirect', 'large', 'bomb']) {
    assert.equal((await authorize({ client_id: `https://app.example/${path}` })).statusCode, 400, path);
  }
  assert.deepEqual(paths, ['/good', '/redirect', '/large', '/bomb']);
  for (const host of Object.keys(inside)) {
    assert.equal((await authorize({ client_id: `https://${host}/c` })).statusCode, 400, host);
  }
  const refusals = opened.lines.filter((line) => line.includes('client metadata document refused'));
  assert.equal(
    refusals.filter((line) => line.includes('resolves to an address that is not on the public internet')).length,
    5,
  );
  const uri = 'https://app.example/request';
  for (const changes of [{ request_uri: uri }, { request: 'e30.e30.' }])
    await authorize({ client_id: 'https://app.example/good', ...changes });
  assert.equal(paths.length, 4, 'no other parameter is fetched');
});

test('no request to the authorization server causes a fault, or a redirect to a URI that is not registered', async (t) => {
  const opened = await openOauthApp(t);
  const { authorize, token, begin, decide, pkce, callbackOf, signIn } = createFlow(opened);
  const { refresh_token } = await signIn();
  const code = (await callbackOf()).searchParams.get('code') ?? '';
  const waiting = await begin();
  const words = fc.oneof(
    fc.string({ maxLength: 40, unit: 'binary' }),
    fc.constantFrom(
      '',
      ' ',
      'none',
      'openid',
      'form_post',
      'fragment',
      clientId,
      callback,
      code,
      refresh_token,
      pkce.verifier,
      '{}',
      '[]',
      '\u0000',
    ),
  );
  const names = (known: readonly string[]) =>
    fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string({ maxLength: 12 })), words, { maxKeys: 4 });
  const ofRequest =
    'client_id redirect_uri scope state response_type response_mode prompt resource code_challenge code_challenge_method nonce claims max_age request';
  const ofToken =
    'grant_type code refresh_token client_id redirect_uri code_verifier scope resource client_assertion client_assertion_type client_secret';
  const isOwn = (location: unknown) =>
    location === undefined ||
    String(location).startsWith('/oauth/requests/') ||
    String(location).startsWith(`${callback}?`);
  const check = ({
    statusCode,
    headers,
    body,
  }: {
    statusCode: number;
    headers: Record<string, unknown>;
    body: string;
  }) => {
    assert.ok(statusCode < 500, body);
    assert.ok(isOwn(headers.location), String(headers.location));
  };
  const decision = fc.record({
    decision: fc.oneof(fc.constant('allow'), words),
    project_id: words,
    scopes: fc.array(words),
    collections: fc.jsonValue(),
    tools: fc.jsonValue(),
  });
  const requests = fc.tuple(names(ofRequest.split(' ')), names(ofToken.split(' ')), fc.jsonValue(), decision);
  await fc.assert(
    fc.asyncProperty(requests, async ([first, second, body, third]) => {
      check(await authorize(first));
      check(await token({ grant_type: 'refresh_token', client_id: clientId, ...second }));
      check(
        await opened.app.inject({
          method: 'POST',
          url: '/oauth/register',
          payload: { redirect_uris: [callback], x: body },
          remoteAddress: '10.9.9.9',
        }),
      );
      check(await decide(waiting.id, waiting.cookie, third));
    }),
    { numRuns: 100, seed: 20261129 },
  );
  assert.deepEqual(
    opened.lines.filter((line) => line.includes('authorization server failed')),
    [],
  );
});
