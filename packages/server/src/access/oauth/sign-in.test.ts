import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createResources } from './resources.ts';
import { callback, clientId, issuer, openOauthApp } from './testing/oauth-app.ts';
import { createFlow } from './testing/oauth-flow.ts';

test('an application signs in, and its token has what the person left', async (t) => {
  const opened = await openOauthApp(t);
  const { callbackOf, exchange, call } = createFlow(opened);
  const url = await callbackOf(
    { scope: 'collections plugins unknown' },
    { scopes: ['collections:read', 'plugins'], tools: ['weather'] },
  );
  assert.equal(url.origin + url.pathname, callback);
  assert.deepEqual(Object.fromEntries([...url.searchParams].filter(([name]) => name !== 'code')), {
    state: 'abc',
    iss: issuer,
  });
  assert.match(url.searchParams.get('code') ?? '', /^qmc_[\w-]{43}$/);
  const answer = await exchange(url.searchParams.get('code') ?? '');
  assert.equal(answer.statusCode, 200, answer.body);
  const { access_token, refresh_token, ...rest } = answer.json();
  assert.match(access_token, /^qmt_[\w-]{43}$/);
  assert.match(refresh_token, /^qmr_[\w-]{43}$/);
  assert.deepEqual(rest, { expires_in: 3600, scope: 'collections:read plugins', token_type: 'Bearer' });
  const called = await call(access_token);
  assert.equal(called.statusCode, 200, called.body);
  const { projectId, keyId, tools } = called.json();
  const grant = await opened.repository.findGrant(keyId);
  assert.deepEqual(
    [projectId, tools, grant?.scopes],
    [opened.project.id, ['weather'], ['collections:read', 'plugins']],
  );
});

test('the metadata of an MCP server names its URL as it was typed, its scopes and the authorization server', async (t) => {
  const { app } = await openOauthApp(t);
  const read = async (path: string, host = 'q.example') =>
    app.inject({ url: `/.well-known/${path}`, headers: { host } });
  const scopes = { '': 'collections:read plugins', '/weather': 'plugins', '/collections/coll1': 'collections:read' };
  for (const [path, scope] of Object.entries(scopes)) {
    const answer = await read(`oauth-protected-resource/mcp${path}`);
    assert.equal(answer.statusCode, 200, path);
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.deepEqual(answer.json(), {
      ...{ resource: `${issuer}/mcp${path}`, authorization_servers: [issuer], scopes_supported: scope.split(' ') },
      ...{ bearer_methods_supported: ['header'], resource_name: 'Quartermaster' },
    });
  }
  assert.equal((await read('oauth-protected-resource')).json().resource, `${issuer}/mcp`);
  assert.equal(
    (await read('oauth-protected-resource/mcp?bundles=weather')).json().resource,
    `${issuer}/mcp?bundles=weather`,
  );
  assert.equal((await read('oauth-protected-resource/mcp', 'evil.example')).json().resource, `${issuer}/mcp`);
  for (const path of ['oauth-protected-resource/v1', 'oauth-protected-resource/mcp/a/b/c', 'other']) {
    assert.equal((await read(path)).statusCode, 404, path);
  }
  const server = (await read('oauth-authorization-server')).json();
  assert.equal(server.issuer, issuer);
  assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
  assert.equal(server.authorization_response_iss_parameter_supported, true);
  assert.equal(server.client_id_metadata_document_supported, true);
  const openid = (await read('openid-configuration')).json();
  assert.deepEqual({ ...server, ...openid }, openid, 'the same, and what parsers of OpenID Connect demand');
  for (const [name, url] of Object.entries(server)) {
    if (name.endsWith('_endpoint') || name === 'jwks_uri') assert.match(String(url), /^https:\/\/q\.example\/oauth\//);
  }
});

test('a refusal of an MCP server names its metadata, and the error when a token was sent', async (t) => {
  const opened = await openOauthApp(t);
  const { app } = opened;
  const { call, signIn } = createFlow(opened);
  const metadata = (path: string) => `resource_metadata="${issuer}/.well-known/oauth-protected-resource${path}"`;
  const none = await app.inject({
    method: 'POST',
    url: '/mcp/collections/coll1?x=1',
    headers: { host: 'q.example' },
    payload: {},
  });
  assert.equal(none.statusCode, 401);
  assert.equal(
    none.headers['www-authenticate'],
    `Bearer ${metadata('/mcp/collections/coll1?x=1')}, scope="collections:read"`,
  );
  const unknown = await call(`qmt_${'x'.repeat(43)}`);
  assert.equal(
    unknown.headers['www-authenticate'],
    `Bearer error="invalid_token", ${metadata('/mcp')}, scope="collections:read plugins"`,
  );
  const { access_token } = await signIn({ scope: 'files:read' }, { scopes: ['files:read'] });
  const refused = await call(access_token);
  assert.equal(refused.statusCode, 403);
  assert.equal(
    refused.headers['www-authenticate'],
    `Bearer error="insufficient_scope", ${metadata('/mcp')}, scope="collections:read plugins"`,
  );
  const rest = await app.inject({ method: 'POST', url: '/v1/execute', headers: { host: 'q.example' }, payload: {} });
  assert.equal(rest.headers['www-authenticate'], 'Bearer', 'other paths accept keys only');
});

test('without https nobody can sign in, except on this machine', () => {
  const issuerOf = (url: string) =>
    createResources({ publicUrls: { files: null, plugins: null }, urlsOf: () => [url] }).issuer();
  assert.equal(issuerOf('http://127.0.0.1:8080'), 'http://127.0.0.1:8080');
  assert.equal(issuerOf('http://192.168.1.5:8080'), null);
  assert.equal(issuerOf(''), null);
  const { baseOf, read } = createResources({
    publicUrls: { files: null, plugins: null },
    urlsOf: (address) => [address === 'files' ? 'http://127.0.0.1:8080' : 'http://127.0.0.1:8081'],
  });
  assert.equal(baseOf('plugins', 'localhost:8080'), 'http://127.0.0.1:8081', 'the port of the other address');
  assert.equal(baseOf('plugins', 'localhost:8081'), 'http://localhost:8081');
  assert.equal(read('http://localhost:8081/mcp/?a=b')?.id, 'http://localhost:8081/mcp');
  const below = createResources({ publicUrls: { files: 'https://h.example/q', plugins: null }, urlsOf: () => [] });
  assert.equal(below.issuer(), 'https://h.example/q');
  assert.equal(below.read('https://h.example/q/mcp/mcp')?.id, 'https://h.example/q/mcp/mcp');
  for (const url of [
    'https://h.example/mcp',
    'https://evil.example/q/mcp',
    'https://h.example/q/mcp#x',
    'https://a@h.example/q/mcp',
  ]) {
    assert.equal(below.read(url), null, url);
  }
});

test('an application without a metadata document registers, and gets no secret', async (t) => {
  const opened = await openOauthApp(t);
  const { app } = opened;
  const { signIn, call } = createFlow(opened);
  const redirects = ['cursor://anysphere.cursor-mcp/oauth/callback', 'http://localhost:8787/callback'];
  const answer = await app.inject({
    method: 'POST',
    url: '/oauth/register',
    payload: {
      ...{
        redirect_uris: redirects,
        client_name: 'Cur\u202esor',
        scope: 'plugins',
        token_endpoint_auth_method: 'client_secret_post',
      },
      ...{
        sector_identifier_uri: 'https://169.254.169.254/',
        jwks_uri: 'https://10.0.0.1/',
        logo_uri: 'https://10.0.0.1/',
      },
    },
  });
  assert.equal(answer.statusCode, 201, answer.body);
  const { client_id, client_id_issued_at, ...metadata } = answer.json();
  assert.ok(client_id_issued_at > 0);
  assert.deepEqual(metadata, {
    ...{
      client_name: 'Cursor',
      redirect_uris: [...redirects, 'http://127.0.0.1:8787/callback'],
      response_types: ['code'],
    },
    ...{
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  });
  assert.deepEqual(opened.asked, [], 'nothing is fetched for a registration');
  for (const redirect_uri of [redirects[0], 'http://127.0.0.1:1/callback', 'http://localhost:2/callback']) {
    const flow = createFlow(opened);
    const code = (await flow.callbackOf({ client_id, redirect_uri })).searchParams.get('code') ?? '';
    const { statusCode, body } = await flow.exchange(code, { client_id, redirect_uri });
    assert.equal(statusCode, 200, body);
  }
  const list = await app.inject({
    url: '/v1/applications',
    headers: { cookie: opened.person.cookie, ...opened.person.headers },
  });
  assert.deepEqual(
    list.json().data.map((item: { host: string; name: string }) => [item.host, item.name]),
    Array(3).fill([null, 'Cursor']),
  );
  const { access_token } = await signIn();
  assert.equal((await call(access_token)).statusCode, 200);
  assert.deepEqual(opened.asked, [clientId]);
});

test('an application that is signed out loses its tokens at once, and only a manager of the project can do it', async (t) => {
  const opened = await openOauthApp(t);
  const { signIn, call, refresh } = createFlow(opened);
  const { access_token, refresh_token } = await signIn();
  const grant = (await call(access_token)).json().keyId;
  const headers = { cookie: opened.person.cookie, ...opened.person.headers };
  const remove = (id: string, more: object = headers) =>
    opened.app.inject({ method: 'DELETE', url: `/v1/applications/${id}`, headers: { ...more } });
  assert.equal((await remove(grant, {})).statusCode, 401);
  assert.equal((await remove('gran00000000000000000000')).statusCode, 404);
  assert.equal((await remove(grant)).statusCode, 200);
  assert.equal((await remove(grant)).statusCode, 404);
  opened.clock.offset = 1000;
  assert.equal((await call(access_token)).statusCode, 401);
  assert.equal((await refresh(refresh_token)).json().error, 'invalid_grant');
  const again = await signIn();
  await opened.accounts.removePasswordAccount();
  opened.clock.offset = 2000;
  assert.equal((await call(again.access_token)).statusCode, 401, 'without its administrator nothing is allowed');
});

test('an application revokes a token, and with a refresh token everything that the person allowed', async (t) => {
  const opened = await openOauthApp(t);
  const { signIn, call, refresh, token } = createFlow(opened);
  const revoke = (value: string, client = clientId) =>
    opened.app.inject({
      method: 'POST',
      url: '/oauth/revoke',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ token: value, client_id: client }).toString(),
    });
  const first = await signIn();
  assert.equal((await revoke('qmt_unknown')).statusCode, 200);
  assert.equal((await revoke(first.access_token)).statusCode, 200);
  opened.clock.offset = 1000;
  assert.equal((await call(first.access_token)).statusCode, 401);
  const second = (await refresh(first.refresh_token)).json();
  assert.equal((await call(second.access_token)).statusCode, 200, 'an access token ends alone');
  assert.equal((await revoke(second.refresh_token)).statusCode, 200);
  opened.clock.offset = 3000;
  assert.equal((await call(second.access_token)).statusCode, 401);
  assert.equal((await token({ grant_type: 'password', client_id: clientId })).json().error, 'unsupported_grant_type');
});
