import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { Injection, OAuth2 } from '@quartermaster/plugin-kit';
import type { StoredRefreshToken } from '../../../access/credential-profiles/resolve-credentials.ts';
import type { Clock } from '../../../platform/clock.ts';
import { Problem } from '../../../platform/problem.ts';
import { credentialLimits } from '../../catalogue/credential-bounds.ts';
import type { EgressPolicy } from '../broker.ts';
import { apiHost, apiOrigin, never, policyFor, secretsOf, startBroker, startServer } from '../testing/broker.suite.ts';

const authOrigin = 'https://login.example.com';
const clientCredentials: OAuth2 = {
  in: 'oauth2',
  grant: 'client_credentials',
  token_url: `${authOrigin}/token`,
  client_id: 'id',
  client_secret: 'secret',
};
const refreshToken: OAuth2 = { ...clientCredentials, grant: 'refresh_token', refresh_token: 'refresh' };
const secrets = { id: 'client-1', secret: 'canary+secret/0123456789', refresh: 'canary-refresh-0123456789' };

interface Place {
  readonly tokens: Answer;
  readonly api?: Answer;
  readonly clock?: Clock;
}
type Answer = (request: IncomingMessage, response: ServerResponse, number: number) => void;

function respondJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Starts a server that grants access tokens as in RFC 6749, an API that requires them, and a broker. */
async function open(t: TestContext, { tokens, api, clock }: Place) {
  let granted = 0;
  const auth = await startServer(t, (request, response) => tokens(request, response, ++granted));
  let requests = 0;
  const upstream = await startServer(t, (request, response) => {
    requests += 1;
    if (api === undefined) response.end(`heard ${request.headers.authorization}`);
    else api(request, response, requests);
  });
  const broker = startBroker(t, {
    overrides: new Map([
      [apiOrigin, upstream.origin],
      [authOrigin, auth.origin],
    ]),
    ...(clock === undefined ? {} : { clock }),
  });
  const send = (inject: Injection = clientCredentials, changes: Partial<EgressPolicy> = {}, signal = never) => {
    const hosts = new Set([apiHost, 'login.example.com']);
    const policy = policyFor({ hosts, credentials: secretsOf(secrets), inject: [inject], ...changes });
    return broker.send({ method: 'POST', url: `${apiOrigin}/things`, body: '{}' }, policy, signal);
  };
  return { auth, upstream, send };
}

const grant =
  (more: object = {}): Answer =>
  (_request, response, number) =>
    respondJson(response, {
      access_token: `token-${number}-0123456789`,
      token_type: 'Bearer',
      expires_in: 3600,
      ...more,
    });

describe('an access token', () => {
  it('is requested with the credentials of the client and sent; neither is returned', async (t) => {
    const { auth, upstream, send } = await open(t, { tokens: grant() });
    const result = await send({
      ...clientCredentials,
      scope: 'read write',
      parameters: { audience: 'https://a.example' },
    });
    const [tokenRequest] = auth.requests;
    assert.equal(tokenRequest?.method, 'POST');
    const basic = Buffer.from('client-1:canary%2Bsecret%2F0123456789').toString('base64');
    assert.equal(tokenRequest?.headers.authorization, `Basic ${basic}`);
    assert.deepEqual(Object.fromEntries(new URLSearchParams(tokenRequest?.body)), {
      grant_type: 'client_credentials',
      scope: 'read write',
      audience: 'https://a.example',
    });
    assert.equal(upstream.requests[0]?.headers.authorization, 'Bearer token-1-0123456789');
    assert.ok(result.kind === 'response');
    assert.equal(result.body.toString(), 'heard Bearer [redacted]');
  });

  it('is requested with the credentials in the body, or without a secret, if the bundle declares so', async (t) => {
    const { auth, send } = await open(t, { tokens: grant() });
    await send({ ...clientCredentials, client_authentication: 'body' });
    const body = new URLSearchParams(auth.requests[0]?.body);
    assert.deepEqual([body.get('client_id'), body.get('client_secret')], [secrets.id, secrets.secret]);
    const { client_secret: _, ...open_ } = refreshToken;
    await send(open_);
    const [, second] = auth.requests;
    assert.equal(second?.headers.authorization, undefined);
    assert.deepEqual(Object.fromEntries(new URLSearchParams(second?.body)), {
      grant_type: 'refresh_token',
      refresh_token: secrets.refresh,
      client_id: secrets.id,
    });
  });

  it('is sent in the place that the bundle declares', async (t) => {
    const { upstream, send } = await open(t, { tokens: grant() });
    await send({ ...clientCredentials, header: 'X-Token', template: 'Zoho {token}' });
    assert.equal(upstream.requests[0]?.headers['x-token'], 'Zoho token-1-0123456789');
    assert.equal(upstream.requests[0]?.headers.authorization, undefined);
  });

  it('is cached until shortly before it expires, for these credentials and this declaration only', async (t) => {
    const clock: Clock & { time: number } = { time: 1_000_000, now: () => clock.time };
    const { auth, send } = await open(t, { tokens: grant({ expires_in: 100 }), clock });
    await send();
    await send();
    assert.equal(auth.requests.length, 1);
    await send(clientCredentials, { credentials: secretsOf({ ...secrets, secret: 'another-0123456789' }) });
    await send({ ...clientCredentials, scope: 'other' });
    assert.equal(auth.requests.length, 3);
    clock.time += 89_999;
    await send();
    assert.equal(auth.requests.length, 3);
    clock.time += 1;
    await send();
    assert.equal(auth.requests.length, 4);
  });

  it('is requested once for concurrent calls', async (t) => {
    const answers: Array<() => void> = [];
    const { auth, upstream, send } = await open(t, {
      tokens: (request, response, number) => answers.push(() => grant()(request, response, number)),
      api: (_request, response) => response.end(),
    });
    const gone = new AbortController();
    const first = send(clientCredentials, {}, gone.signal);
    const others = Array.from({ length: 20 }, () => send());
    while (answers.length === 0) await new Promise(setImmediate);
    // Other callers still get the token after the one that requested it has left.
    gone.abort();
    await assert.rejects(first);
    for (const answer of answers) answer();
    assert.deepEqual([...new Set((await Promise.all(others)).map(({ kind }) => kind))], ['response']);
    assert.equal(auth.requests.length, 1);
    assert.equal(upstream.requests.length, 20);
  });

  it('that was cached and is rejected is replaced by a new one, once', async (t) => {
    let refused = new Set<string>();
    const { auth, upstream, send } = await open(t, {
      tokens: grant(),
      api: (request, response) => {
        const isRefused = refused.has(request.headers.authorization ?? '');
        response.writeHead(isRefused ? 401 : 200).end();
      },
    });
    const statusOf = async () => {
      const result = await send();
      return result.kind === 'response' ? result.status : result.kind;
    };
    assert.equal(await statusOf(), 200);
    refused = new Set(['Bearer token-1-0123456789']);
    assert.equal(await statusOf(), 200);
    assert.deepEqual([auth.requests.length, upstream.requests.length], [2, 3]);
    assert.equal(upstream.requests[2]?.body, '{}');
    refused = new Set(['Bearer token-2-0123456789', 'Bearer token-3-0123456789']);
    assert.equal(await statusOf(), 401);
    assert.deepEqual([auth.requests.length, upstream.requests.length], [3, 5]);
    // The next call first uses the rejected token, and then gets a valid one.
    assert.equal(await statusOf(), 200);
    assert.deepEqual([auth.requests.length, upstream.requests.length], [4, 7]);
  });

  it('is requested again to verify credentials', async (t) => {
    const { auth, send } = await open(t, { tokens: grant() });
    await send();
    await send(clientCredentials, { wantsFreshToken: true });
    assert.equal(auth.requests.length, 2);
  });

  it('comes with a new refresh token, which replaces the old one', async (t) => {
    const clock: Clock & { time: number } = { time: 1_000_000, now: () => clock.time };
    const tokens: Answer = (request, response, number) =>
      grant({ refresh_token: `refresh-${number}-0123456789`, id_token: 'not.a.token' })(request, response, number);
    const { auth, send } = await open(t, { tokens, clock });
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await send(refreshToken)).kind, 'response');
      clock.time += 3_600_000;
    }
    const sent = auth.requests.map(({ body }) => new URLSearchParams(body).get('refresh_token'));
    assert.deepEqual(sent, [secrets.refresh, 'refresh-1-0123456789', 'refresh-2-0123456789']);
  });

  it('of a stored credential is used after the new refresh token is stored, and stays cached when that one changes', async (t) => {
    const events: string[] = [];
    const tokens: Answer = (request, response, number) => {
      events.push(`refresh with ${new URLSearchParams(auth.requests.at(-1)?.body).get('refresh_token')}`);
      grant({ refresh_token: `refresh-${number}-0123456789` })(request, response, number);
    };
    const api: Answer = (_request, response) => {
      events.push('call');
      response.end('heard');
    };
    const { auth, send } = await open(t, { tokens, api });
    let newest = 'refresh-0-0123456789';
    const storedRefreshToken: StoredRefreshToken = {
      version: 'profile 1',
      superseded: [],
      async refresh(name, ask) {
        const answer = await ask(newest);
        events.push(`store ${name} ${answer.rotated}`);
        newest = answer.rotated ?? newest;
        return answer;
      },
    };
    await send(refreshToken, { storedRefreshToken });
    // The next run reads the profile again and gets the new refresh token.
    await send(refreshToken, { storedRefreshToken, credentials: secretsOf({ ...secrets, refresh: newest }) });
    assert.deepEqual(events, [
      'refresh with refresh-0-0123456789',
      'store refresh refresh-1-0123456789',
      'call',
      'call',
    ]);
  });

  it('of the maximum size of a credential is accepted, and a larger token is neither stored nor sent', async (t) => {
    const text = (bytes: number) => 't'.repeat(bytes);
    const most = credentialLimits.valueBytes;
    for (const [more, isAccepted] of [
      [{ access_token: text(most), refresh_token: text(most) }, true],
      [{ access_token: text(most + 1) }, false],
      [{ refresh_token: text(most + 1) }, false],
    ] as const) {
      const { upstream, send } = await open(t, { tokens: grant(more) });
      const stored: unknown[] = [];
      const storedRefreshToken: StoredRefreshToken = {
        version: 'profile 1',
        superseded: [],
        async refresh(_name, ask) {
          const answer = await ask('refresh-0-0123456789');
          if (answer.rotated !== undefined) stored.push(answer.rotated);
          return answer;
        },
      };
      const result = await send(refreshToken, { storedRefreshToken });
      const count = isAccepted ? 1 : 0;
      assert.deepEqual(
        [result.kind === 'response', stored.length, upstream.requests.length],
        [isAccepted, count, count],
      );
    }
  });

  it('of a stored credential is not used when the new refresh token cannot be stored', async (t) => {
    const { upstream, send } = await open(t, { tokens: grant({ refresh_token: 'refresh-1-0123456789' }) });
    for (const [error, reason] of [
      [
        new Problem('SERVICE_UNAVAILABLE', 'its new refresh token could not be stored. Retry the request'),
        'its new refresh token could not be stored. Retry the request',
      ],
      [new Error('relation "credential_profile" does not exist'), 'the stored refresh token could not be used'],
    ] as const) {
      const refresh = async () => await Promise.reject(error);
      const storedRefreshToken = { version: 'profile 1', superseded: [], refresh };
      const result = await send(refreshToken, { storedRefreshToken });
      const message = `no access token: ${reason}`;
      assert.deepEqual([result, upstream.requests.length], [{ kind: 'unreachable', message }, 0]);
    }
  });
});

describe('a token endpoint', () => {
  it('that rejects the credentials results in an error that does not repeat them', async (t) => {
    for (const [status, code] of [
      [401, 'invalid_client'],
      [400, 'invalid_grant'],
      [400, 'unauthorized_client'],
    ] as const) {
      const { upstream, send } = await open(t, {
        tokens: (request, response) =>
          respondJson(
            response,
            { error: code, error_description: `${secrets.secret} ${request.headers.authorization}` },
            status,
          ),
      });
      const result = await send();
      assert.ok(result.kind === 'credentials_rejected');
      assert.equal(result.status, status);
      assert.match(result.excerpt, /\[redacted\] Basic .*\[redacted\]/);
      assert.ok(!result.excerpt.includes(secrets.secret));
      assert.ok(!result.excerpt.includes(Buffer.from('canary%2Bsecret%2F0123456789').toString('base64').slice(4, -4)));
      assert.equal(upstream.requests.length, 0);
    }
  });

  it('that returns an invalid response results in an error without its text', async (t) => {
    const answers: Array<[Answer, RegExp]> = [
      [(_r, response) => respondJson(response, { error: 'invalid_scope' }, 400), /answered 400, invalid_scope/],
      [(_r, response) => response.writeHead(500).end(secrets.secret), /answered 500, which is not a token/],
      [(_r, response) => response.end(`<html>${secrets.secret}`), /answered 200, which is not a token/],
      [(_r, response) => respondJson(response, { access_token: secrets.secret }), /answered 200, which is not a token/],
      [(_r, response) => respondJson(response, { access_token: 'a\nb', token_type: 'bearer' }), /no header can carry/],
      [(_r, response) => response.writeHead(302, { location: 'https://evil.example.com/' }).end(), /redirected/],
      [(_r, response) => response.destroy(), /no access token: the connection was closed/],
    ];
    for (const [tokens, expectedMessage] of answers) {
      const { upstream, send } = await open(t, { tokens });
      const result = await send();
      assert.equal(result.kind, 'unreachable');
      assert.match(JSON.stringify(result), expectedMessage);
      assert.ok(!JSON.stringify(result).includes('canary'));
      assert.equal(upstream.requests.length, 0);
    }
  });

  it('on an undeclared host is not requested, and one that is too large is refused', async (t) => {
    const { auth, send } = await open(t, { tokens: (_r, response) => response.end('x'.repeat(100_000)) });
    const elsewhere = await send(clientCredentials, { hosts: new Set([apiHost]) });
    assert.equal(elsewhere.kind, 'refused');
    assert.equal(auth.requests.length, 0);
    assert.equal((await send()).kind, 'too_large');
  });

  it('that does not answer in time ends the call in time', async (t) => {
    const { send } = await open(t, { tokens: () => {} });
    const result = await send(clientCredentials, { timeoutMs: 100 });
    assert.deepEqual(result, { kind: 'timed_out', limitMs: 100 });
  });
});
