import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { type Handler, providerClient, signInAtProvider } from '../../../../../test/support/identity-provider.ts';
import { mostPending } from './pending-sign-ins.ts';
import { openSignInApp, type SignInApp } from './testing/sign-in-app.ts';

const verified = { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
const open = (t: Parameters<typeof openSignInApp>[0], more = {}) =>
  openSignInApp(t, { allowedDomains: ['example.com'], ...more });

/** The reason in the answer, and the one that the log has. */
function reasonOf(answer: Awaited<ReturnType<SignInApp['signIn']>>) {
  const { error } = answer.json();
  return `${answer.statusCode} ${error?.details?.[0]?.reason ?? error?.code}`;
}

const sendJson =
  (body: object): Handler =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  };

test('an answer counts once, in the browser in which its sign-in began, and for its own request', async (t) => {
  const app = await open(t);
  app.provider.person.claims = verified;
  const [victim, attacker] = [await app.begin(), await app.begin()];
  const attackersAnswer = await signInAtProvider(app.provider, attacker.url);
  const victimsAnswer = await signInAtProvider(app.provider, victim.url);
  const attempt = async (cookie: string, answer: URL | URLSearchParams, headers = {}) =>
    reasonOf(await app.finish(cookie, answer, headers));
  assert.equal(await attempt(victim.cookie, attackersAnswer), '403 expired', 'the code of an attacker');
  assert.equal(await attempt('', attackersAnswer), '403 expired', 'a browser without a sign-in');
  const mixed = new URLSearchParams(victimsAnswer.searchParams);
  mixed.set('state', 'x'.repeat(43));
  assert.equal(await attempt(victim.cookie, mixed), '403 expired', 'an unknown state');
  assert.deepEqual(
    app.provider.requests.filter((request) => request === 'POST /token'),
    [],
  );
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    assert.equal(await attempt(victim.cookie, victimsAnswer, headers), '403 PERMISSION_DENIED');
  }
  const swapped = new URLSearchParams(victimsAnswer.searchParams);
  swapped.set('code', attackersAnswer.searchParams.get('code') ?? '');
  assert.equal(await attempt(victim.cookie, swapped), '502 answer_invalid', 'PKCE binds the code to its request');
  assert.match(app.lines.join(''), /"cause":"invalid_grant"/);
  assert.equal(await attempt(victim.cookie, victimsAnswer), '403 expired', 'the state was used');
  app.clock.offset = 600_001;
  const late = await app.begin();
  const lateAnswer = await signInAtProvider(app.provider, late.url);
  app.clock.offset = 2 * 600_001;
  assert.equal(await attempt(late.cookie, lateAnswer), '403 expired');
  assert.deepEqual(await app.accounts(), []);
});

test('an answer with the issuer of another provider, without one, or with an error is refused', async (t) => {
  const app = await open(t);
  app.provider.person.claims = verified;
  const changes: Record<string, [(query: URLSearchParams) => void, string]> = {
    other: [(query) => query.set('iss', 'https://evil.example'), '502 answer_invalid'],
    missing: [(query) => query.delete('iss'), '502 answer_invalid'],
    twice: [(query) => query.append('iss', 'https://evil.example'), '502 answer_invalid'],
    'two codes': [(query) => query.append('code', 'x'), '502 answer_invalid'],
    error: [(query) => query.set('error', '<script>alert(1)</script>'), '403 denied'],
  };
  for (const [name, [change, expected]] of Object.entries(changes)) {
    const { cookie, url } = await app.begin();
    const answer = await signInAtProvider(app.provider, url);
    change(answer.searchParams);
    const finished = await app.finish(cookie, answer);
    assert.equal(reasonOf(finished), expected, name);
    assert.ok(!finished.body.includes('script') && !app.lines.join('').includes('<script'), 'no text of the provider');
  }
  assert.ok(!app.provider.requests.includes('POST /token'));
});

test('an ID token that is not for this sign-in, or not signed by the provider, is refused', async (t) => {
  const app = await open(t);
  const { provider } = app;
  const now = Math.floor(Date.now() / 1000);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const withPublicKey = (claims: object) => {
    const text = `${encode({ alg: 'HS256', kid: 'first' })}.${encode(claims)}`;
    const key = provider.publicKey.export({ type: 'spki', format: 'pem' });
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
  };
  const same = (changes: object) => (claims: object) => provider.signToken({ ...claims, ...changes });
  const tokens: Record<string, (claims: object) => string> = {
    'another issuer': same({ iss: 'https://evil.example' }),
    'another audience': same({ aud: 'another' }),
    'another authorised party': same({ aud: [providerClient.id, 'another'], azp: 'another' }),
    'two audiences without a party': same({ aud: [providerClient.id, 'another'] }),
    'another nonce': same({ nonce: 'of another request' }),
    'no nonce': same({ nonce: undefined }),
    expired: same({ exp: now - 61 }),
    'no subject': same({ sub: undefined }),
    'no algorithm': (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`,
    'the public key as a shared secret': withPublicKey,
    'another key': (claims) => provider.signToken(claims, {}, other),
    'no token': () => '',
  };
  const attempt = async (create: (claims: object) => string) => {
    const { cookie, url } = await app.begin();
    const answer = await signInAtProvider(provider, url);
    const nonce = new URL(url).searchParams.get('nonce');
    const claims = {
      iss: provider.issuer,
      sub: 'ada',
      aud: providerClient.id,
      nonce,
      iat: now,
      exp: now + 60,
      ...verified,
    };
    const token = create(claims);
    provider.replaced.set(
      '/token',
      sendJson({ access_token: 'a', token_type: 'Bearer', id_token: token || undefined }),
    );
    return reasonOf(await app.finish(cookie, answer));
  };
  for (const [name, create] of Object.entries(tokens)) assert.equal(await attempt(create), '502 answer_invalid', name);
  assert.match(app.lines.join(''), /"reason":"answer_invalid","cause":"OAUTH_JWT_CLAIM_COMPARISON_FAILED"/);
  assert.deepEqual(await app.accounts(), []);
  assert.equal(
    await attempt(same({ exp: now - 50 })),
    '200 undefined',
    'the right token, within the tolerance of clocks',
  );
  const fetches = () => provider.requests.filter((request) => request === 'GET /jwks').length;
  const before = fetches();
  for (let i = 0; i < 5; i += 1) {
    assert.equal(await attempt((claims) => provider.signToken(claims, { kid: `unknown${i}` })), '502 answer_invalid');
  }
  assert.equal(fetches(), before, 'unknown keys cause no requests within a minute');
});

test('a provider that answers HTML, too much, slowly, elsewhere or nonsense causes a bounded failure', async (t) => {
  const app = await open(t);
  app.provider.person.claims = verified;
  let sent = 0;
  const hostile: Record<string, [Handler, string]> = {
    HTML: [(_request, response) => response.setHeader('content-type', 'text/html').end('<b>hello'), 'answer_invalid'],
    endless: [
      (_request, response) => {
        const more = (error?: Error | null) => {
          sent += 65_536;
          if (error == null && sent < 2 ** 30) response.write(Buffer.alloc(65_536, ' '), more);
        };
        more();
      },
      'unreachable',
    ],
    redirect: [(_request, response) => response.writeHead(302, { location: '/jwks' }).end(), 'unreachable'],
    nonsense: [sendJson([1, { access_token: 5 }]), 'answer_invalid'],
    'another issuer': [
      sendJson({ issuer: 'https://evil.example', id_token: 'x', access_token: 'y' }),
      'answer_invalid',
    ],
    'an error': [(_request, response) => response.writeHead(500).end(), 'answer_invalid'],
    'no answer': [() => {}, 'unreachable'],
  };
  for (const [name, [handler, expected]] of Object.entries(hostile)) {
    const { cookie, url } = await app.begin();
    const answer = await signInAtProvider(app.provider, url);
    app.provider.replaced.set('/token', handler);
    assert.equal(reasonOf(await app.finish(cookie, answer)), `502 ${expected}`, name);
    assert.ok(sent < 64 * 2 ** 20, `${sent} bytes were sent`);
  }
  app.provider.replaced.clear();
  const fresh = await open(t);
  const path = '/.well-known/openid-configuration';
  const begins = async (name: string) => {
    const { answer, cookie, url } = await fresh.begin();
    assert.deepEqual([answer.statusCode, cookie], [303, ''], name);
    assert.match(url, /^https:\/\/q\.example\/sign-in\/callback\?failed=PROVIDER_ERROR&request_id=[\w-]+$/, name);
  };
  for (const [name, [handler]] of Object.entries(hostile).slice(0, 5)) {
    fresh.provider.replaced.set(path, handler);
    await begins(name);
  }
  fresh.provider.replaced.clear();
  assert.match((await fresh.begin()).url, new RegExp(`^${fresh.provider.issuer}/auth\\?`), 'a failure is not cached');
  fresh.clock.offset = 600_001;
  const document = { issuer: fresh.provider.issuer, authorization_endpoint: 'javascript:alert(1)' };
  fresh.provider.replaced.set(path, sendJson(document));
  await begins('an address that is no web page');
});

test('a provider at a private address is reached only if the operator allows it', async (t) => {
  const app = await open(t, { allow: [] });
  assert.match((await app.begin()).url, /failed=PROVIDER_ERROR/);
  assert.deepEqual(app.provider.requests, []);
});

test('one address cannot begin sign-ins without limit', async (t) => {
  const app = await open(t);
  const urls = await Promise.all(
    Array.from({ length: mostPending.ofNetwork + 5 }, async () => (await app.begin()).url),
  );
  const refused = urls.filter((url) => url.includes('failed=TOO_MANY_REQUESTS'));
  assert.equal(refused.length, 5);
  assert.match(refused[0] ?? '', /&retry_after=[1-9]\d*$/);
  assert.equal(await app.countWaiting(), mostPending.ofNetwork);
});

test('a sign-in that has succeeded no longer counts, and one that has failed does', async (t) => {
  const app = await open(t);
  app.provider.person.claims = verified;
  const counts = async () => {
    const rows = app.database.read.selectFrom('oauth_record').select('uses').where('model', '=', 'Event');
    return (await rows.execute()).map(({ uses }) => uses);
  };
  assert.equal((await app.signIn()).statusCode, 200);
  assert.deepEqual(await counts(), [0, 0]);
  app.provider.replaced.set('/token', sendJson({}));
  assert.equal((await app.signIn()).statusCode, 502);
  assert.deepEqual(await counts(), [1, 1]);
});

test('a disabled account and a person without access are refused, and the log has the reason but no secret', async (t) => {
  const app = await open(t);
  app.provider.person.claims = { ...verified, email_verified: false };
  assert.equal(reasonOf(await app.signIn()), '403 PERMISSION_DENIED');
  app.provider.person.claims = verified;
  const { cookie, url } = await app.begin();
  const answer = await signInAtProvider(app.provider, url);
  const { data } = (await app.finish(cookie, answer)).json();
  await app.disableAccounts();
  assert.equal(reasonOf(await app.signIn()), '403 PERMISSION_DENIED');
  const log = app.lines.join('');
  assert.equal(app.lines.filter((line) => line.includes('"reason":"no_access"')).length, 2);
  const secrets = [cookie.split('=')[1], data.console_token, providerClient.secret];
  for (const name of ['code', 'state']) secrets.push(answer.searchParams.get(name));
  secrets.push(new URL(url).searchParams.get('nonce'));
  for (const secret of secrets) assert.ok(secret && !log.includes(secret), 'a secret in the log');
  const metrics = await app.registry.metrics();
  assert.match(metrics, /quartermaster_oidc_sign_ins_total\{outcome="signed_in"\} 1/);
  assert.match(metrics, /quartermaster_oidc_sign_ins_total\{outcome="no_access"\} 2/);
});
