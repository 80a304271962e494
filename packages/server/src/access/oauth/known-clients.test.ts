import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClientKey, proofOf } from './testing/client-proof.ts';
import { issuer, openOauthApp } from './testing/oauth-app.ts';
import { createFlow, type Fields } from './testing/oauth-flow.ts';

interface KnownClient {
  readonly name: string;
  /** The URL that the person types. */
  readonly typed?: string;
  /** The metadata document and its URL. */
  readonly document?: { readonly url: string; readonly content: object };
  /** The body of the registration, when the client has no document. */
  readonly registration?: object;
  /** The redirect URI of the request, which may have another port than the registered one. */
  readonly redirect: string;
  /** Added to the scopes of the challenge. */
  readonly scope?: string;
  /** What the page of consent says about where the code goes. */
  readonly shown: { readonly host: string | null; readonly redirect_to: string; readonly redirect_kind: string };
  readonly hasKey?: boolean;
}

const both = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const none = { ...both, token_endpoint_auth_method: 'none' };
const chatGptKeys = 'https://chatgpt.com/oauth/jwks.json';
const codex = { grant_types: both.grant_types, application_type: 'native', token_endpoint_auth_method: 'none' };

/** What each client sends, as its documentation and its users' reports say. */
const clients: readonly KnownClient[] = [
  {
    name: 'claude.ai',
    document: {
      url: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      content: { client_name: 'Claude', redirect_uris: ['https://claude.ai/api/mcp/auth_callback'], ...none },
    },
    redirect: 'https://claude.ai/api/mcp/auth_callback',
    shown: { host: 'claude.ai', redirect_to: 'claude.ai', redirect_kind: 'site' },
  },
  {
    name: 'claude.ai without documents',
    registration: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      ...none,
      scope: 'plugins',
    },
    redirect: 'https://claude.ai/api/mcp/auth_callback',
    shown: { host: null, redirect_to: 'claude.ai', redirect_kind: 'site' },
  },
  {
    name: 'Claude Code',
    document: {
      url: 'https://claude.ai/oauth/claude-code-client-metadata',
      content: {
        client_name: 'Claude Code',
        redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
        ...none,
      },
    },
    redirect: 'http://localhost:54545/callback',
    shown: { host: 'claude.ai', redirect_to: 'localhost:54545', redirect_kind: 'loopback' },
  },
  {
    name: 'ChatGPT',
    document: {
      url: 'https://chatgpt.com/oauth/abc/client.json',
      content: {
        client_name: 'ChatGPT',
        redirect_uris: ['https://chatgpt.com/connector/oauth/abc'],
        ...both,
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        token_endpoint_auth_signing_alg: 'RS256',
        jwks_uri: chatGptKeys,
      },
    },
    redirect: 'https://chatgpt.com/connector/oauth/abc',
    scope: ' offline_access',
    shown: { host: 'chatgpt.com', redirect_to: 'chatgpt.com', redirect_kind: 'site' },
    hasKey: true,
  },
  {
    name: 'Codex',
    document: {
      url: 'https://chatgpt.com/oauth/codex/client.json',
      content: { client_name: 'Codex', redirect_uris: ['http://127.0.0.1/callback/abc'], ...codex },
    },
    redirect: 'http://127.0.0.1:1455/callback/abc',
    shown: { host: 'chatgpt.com', redirect_to: '127.0.0.1:1455', redirect_kind: 'loopback' },
  },
  {
    name: 'Codex, which registers one name of this machine and uses the other',
    registration: { client_name: 'Codex', redirect_uris: ['http://127.0.0.1:1455/callback/abc'], ...codex },
    redirect: 'http://localhost:1455/callback/abc',
    shown: { host: null, redirect_to: 'localhost:1455', redirect_kind: 'loopback' },
  },
  {
    name: 'Cursor',
    registration: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      ...none,
    },
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
    shown: { host: null, redirect_to: 'cursor:', redirect_kind: 'program' },
  },
  {
    name: 'VS Code',
    typed: `${issuer}/mcp?bundles=weather`,
    document: {
      url: 'https://vscode.dev/oauth/client-metadata.json',
      content: {
        client_name: 'Visual Studio Code',
        redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
        ...both,
        grant_types: [...both.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'],
        token_endpoint_auth_method: 'none',
      },
    },
    redirect: 'http://127.0.0.1:52001/',
    shown: { host: 'vscode.dev', redirect_to: '127.0.0.1:52001', redirect_kind: 'loopback' },
  },
  {
    name: 'OpenCode',
    registration: { client_name: 'OpenCode', redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'], ...none },
    redirect: 'http://127.0.0.1:19876/mcp/oauth/callback',
    shown: { host: null, redirect_to: '127.0.0.1:19876', redirect_kind: 'loopback' },
  },
];

for (const client of clients) {
  test(`${client.name} signs in, lists tools, refreshes five times at once, and is refused after it has revoked its token`, async (t) => {
    const opened = await openOauthApp(t);
    const { app, documents, clock } = opened;
    const flow = createFlow(opened);
    const { typed = `${issuer}/mcp`, document, registration, redirect, shown, hasKey = false } = client;
    const { pathname, search } = new URL(typed);
    const local = (url: string) => app.inject({ url: url.replace(issuer, ''), headers: { host: 'q.example' } });

    const first = await app.inject({
      method: 'POST',
      url: pathname + search,
      headers: { host: 'q.example' },
      payload: {},
    });
    assert.equal(first.statusCode, 401);
    const challenge = String(first.headers['www-authenticate']);
    // Some clients read the first text `scope=` of the header, so there is only one.
    const [metadataUrl = '', scopes = ''] =
      /resource_metadata="([^"]+)", scope="([^"]+)"$/.exec(challenge)?.slice(1) ?? [];
    const resource = (await local(metadataUrl)).json();
    assert.equal(new URL(resource.resource).href, new URL(typed).href, 'what the person typed');
    const [server = ''] = resource.authorization_servers;
    const metadata = (await local(`${server}/.well-known/oauth-authorization-server`)).json();
    assert.equal(metadata.issuer, server);
    assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
    const offered = [...metadata.token_endpoint_auth_methods_supported, ...metadata.grant_types_supported];
    for (const name of ['none', 'private_key_jwt', 'authorization_code', 'refresh_token'])
      assert.ok(offered.includes(name), name);
    assert.ok(metadata.client_id_metadata_document_supported && metadata.registration_endpoint);
    assert.ok(metadata.scopes_supported.includes('offline_access'));

    const key = hasKey ? createClientKey() : undefined;
    if (key !== undefined) documents.set(chatGptKeys, { text: key.keys });
    const client_id = document?.url ?? (await register(opened, registration));
    if (document !== undefined)
      documents.set(document.url, { text: JSON.stringify({ client_id, ...document.content }) });
    const proof = (): Fields => (key === undefined ? {} : proofOf(client_id, key.privateKey));
    const request = { client_id, redirect_uri: redirect, resource: typed, scope: scopes + (client.scope ?? '') };

    const { id, cookie } = await flow.begin(request);
    const { data } = (await flow.details(id, cookie)).json();
    assert.deepEqual({ host: data.host, redirect_to: data.redirect_to, redirect_kind: data.redirect_kind }, shown);
    assert.deepEqual(data.scopes, ['collections:read', 'plugins']);
    const callback = await flow.callbackOf(request);
    assert.ok(callback.href.startsWith(`${redirect}?`), callback.href);
    assert.deepEqual([callback.searchParams.get('state'), callback.searchParams.get('iss')], ['abc', metadata.issuer]);
    const fields = { client_id, redirect_uri: redirect, resource: typed };
    const code = callback.searchParams.get('code') ?? '';
    const exchanged = await flow.exchange(code, { ...fields, ...proof() });
    assert.equal(exchanged.statusCode, 200, exchanged.body);
    const tokens = exchanged.json();
    assert.deepEqual(Object.keys(tokens).sort(), [
      'access_token',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ]);
    const listTools = (token: string) => flow.call(token, pathname + search);
    assert.equal((await listTools(tokens.access_token)).statusCode, 200);

    const refresh = () => flow.refresh(tokens.refresh_token, { client_id, resource: typed, ...proof() });
    const answers = await Promise.all(Array.from({ length: 5 }, refresh));
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      Array(5).fill(200),
    );
    const pairs = answers.map((answer) => answer.json());
    assert.equal(new Set(pairs.flatMap((pair) => [pair.access_token, pair.refresh_token])).size, 10);
    for (const pair of pairs) assert.equal((await listTools(pair.access_token)).statusCode, 200);

    const revoked = await revoke(opened, { token: pairs[4].refresh_token, client_id, ...proof() });
    assert.equal(revoked.statusCode, 200);
    clock.offset = 1000;
    const last = await listTools(pairs[0].access_token);
    assert.equal(last.statusCode, 401);
    assert.match(String(last.headers['www-authenticate']), /^Bearer error="invalid_token", resource_metadata="/);
    const late = await flow.refresh(pairs[0].refresh_token, { client_id, ...proof() });
    assert.deepEqual([late.statusCode, late.json().error], [400, 'invalid_grant']);
  });
}

type Opened = Awaited<ReturnType<typeof openOauthApp>>;

/** Some clients register twice for each connection. */
async function register({ app }: Opened, payload: object = {}): Promise<string> {
  await app.inject({ method: 'POST', url: '/oauth/register', payload });
  const answer = await app.inject({ method: 'POST', url: '/oauth/register', payload });
  assert.equal(answer.statusCode, 201, answer.body);
  return answer.json().client_id;
}

function revoke({ app }: Opened, fields: Fields) {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return app.inject({
    method: 'POST',
    url: '/oauth/revoke',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(given).toString(),
  });
}
