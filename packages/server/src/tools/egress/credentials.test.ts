import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Injection } from '@quartermaster/plugin-kit';
import type { EgressRequest } from '../../platform/outbound.ts';
import { apiHost, apiOrigin, never, policyFor, secretsOf, startBroker, startServer } from './testing/broker.suite.ts';

const key = 'k3y+/=&ü "x"-0123456789';

async function sendWith(t: TestContext, inject: Injection[], request: Partial<EgressRequest> = {}, value = key) {
  const upstream = await startServer(t, (_request, response) => response.end('ok'));
  const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
  const policy = policyFor({ credentials: secretsOf({ api_key: value, user: 'me' }), inject });
  const result = await broker.send({ method: 'GET', url: `${apiOrigin}/v1`, ...request }, policy, never);
  return { result, received: upstream.requests[0] };
}

/** Encodings of responses besides UTF-8. */
const encoders: Readonly<Record<string, (text: string) => Buffer>> = {
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'utf-16be': (text) => Buffer.from(text, 'utf16le').swap16(),
  'iso-8859-1': (text) => Buffer.from(text, 'latin1'),
  // Puts a sequence without effect in front of each letter.
  'iso-2022-jp': (text) => Buffer.from([...text].join('\x1b(B'), 'latin1'),
};

describe('a credential', () => {
  it('is put into a header by its template, and replaces that of the request', async (t) => {
    const inject: Injection[] = [
      { in: 'header', name: 'Authorization', credential: 'api_key', template: 'Bearer {credential}' },
    ];
    const { received } = await sendWith(t, inject, { headers: { authorization: 'Bearer mine' } }, 'abc$&$1');
    assert.equal(received?.headers.authorization, 'Bearer abc$&$1');
  });

  it('is put into the query, encoded, and replaces that of the request', async (t) => {
    const inject: Injection[] = [{ in: 'query', name: 'app key', credential: 'api_key' }];
    const { received } = await sendWith(t, inject, {
      url: `${apiOrigin}/v1?a=1&app+key=mine`,
      query: [
        ['app key', 'mine'],
        ['b', '2'],
      ],
    });
    const query = [...new URL(received?.url ?? '', apiOrigin).searchParams];
    assert.deepEqual(query, [
      ['a', '1'],
      ['b', '2'],
      ['app key', key],
    ]);
  });

  it('is put into a form, and replaces that of the request, but into no other body', async (t) => {
    const inject: Injection[] = [{ in: 'form', name: 'token', credential: 'api_key' }];
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const { received } = await sendWith(t, inject, { ...form, body: 'a=1+2&token=mine' });
    assert.deepEqual(
      [...new URLSearchParams(received?.body)],
      [
        ['a', '1 2'],
        ['token', key],
      ],
    );
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    assert.equal((await sendWith(t, inject, json)).received?.body, '{"a":1}');
  });

  it('is put into the path, encoded', async (t) => {
    const inject: Injection[] = [{ in: 'path', credential: 'api_key' }];
    const { received } = await sendWith(t, inject, { url: `${apiOrigin}/bot{credential:api_key}/send` }, 'a/../b?c#d');
    assert.equal(received?.url, '/bota%2F..%2Fb%3Fc%23d/send');
  });

  it('is put into basic authentication', async (t) => {
    const inject: Injection[] = [{ in: 'basic', username: 'user', password: 'api_key' }];
    const { received } = await sendWith(t, inject);
    assert.equal(received?.headers.authorization, `Basic ${Buffer.from(`me:${key}`).toString('base64')}`);
  });

  it('is omitted when the caller did not send it', async (t) => {
    const { received } = await sendWith(t, [{ in: 'header', name: 'X-Other', credential: 'other' }]);
    assert.equal(received?.headers['x-other'], undefined);
  });

  it('that cannot be encoded is refused, without sending or repeating it', async (t) => {
    const header: Injection = { in: 'header', name: 'X-Key', credential: 'api_key' };
    const path: Injection = { in: 'path', credential: 'api_key' };
    const cases: [Injection, string][] = [
      [header, 'line\r\nX-Evil: yes'],
      [header, 'line\nbreak'],
      [header, 'nul\0'],
      [header, 'snow ☃ man'],
      [path, '..'],
      [path, '.'],
      [path, ''],
    ];
    for (const [injection, value] of cases) {
      const { result, received } = await sendWith(t, [injection], {}, value);
      assert.equal(result.kind, 'refused');
      assert.equal(received, undefined);
      assert.ok(value.length < 3 || !JSON.stringify(result).includes(JSON.stringify(value).slice(1, -1)));
    }
    const { result } = await sendWith(t, [], { url: `${apiOrigin}/{credential:api_key}` });
    assert.equal(result.kind, 'refused');
  });
});

describe('a redirect', () => {
  const otherOrigin = 'https://other.example.com';
  const inject: Injection[] = [
    { in: 'header', name: 'X-Key', credential: 'api_key' },
    { in: 'query', name: 'key', credential: 'api_key' },
    { in: 'basic', username: 'api_key' },
  ];

  async function follow(
    t: TestContext,
    { status = 302, location, method = 'GET' }: { status?: number; location: string; method?: string },
  ) {
    const other = await startServer(t, (_request, response) => response.end('other'));
    const first = await startServer(t, (request, response) => {
      if (request.url?.startsWith('/start')) response.writeHead(status, { location }).end();
      else response.end('first');
    });
    const broker = startBroker(t, {
      overrides: new Map([
        [apiOrigin, first.origin],
        [otherOrigin, other.origin],
        ['http://api.example.com', first.origin],
      ]),
    });
    const policy = policyFor({
      hosts: new Set([apiHost, 'other.example.com']),
      schemes: new Set(['https', 'http']),
      credentials: secretsOf({ api_key: 'canary-0123456789' }),
      inject,
    });
    const request = {
      method,
      url: `${apiOrigin}/start`,
      headers: { Cookie: 'a=b', 'X-Kept': '1' },
      ...(method === 'POST' ? { body: '{}' } : {}),
    };
    return { result: await broker.send(request, policy, never), first, other };
  }

  it('to another declared origin carries no credential, cookie or authorization', async (t) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { result, first, other } = await follow(t, { status, location: `${otherOrigin}/x?a=1` });
      assert.equal(result.kind === 'response' && result.finalUrl, `${otherOrigin}/x`);
      assert.ok(JSON.stringify(first.requests).includes('canary-0123456789'));
      const [received] = other.requests;
      assert.equal(received?.url, '/x?a=1');
      assert.equal(received?.headers['x-kept'], '1');
      for (const name of ['x-key', 'authorization', 'cookie']) assert.equal(received?.headers[name], undefined, name);
      assert.ok(!JSON.stringify(other.requests).includes('canary'));
    }
  });

  it('back to the first origin carries them again, once', async (t) => {
    const { first } = await follow(t, { location: '/next?key=old&b=2' });
    assert.equal(first.requests[1]?.url, '/next?b=2&key=canary-0123456789');
    assert.equal(first.requests[1]?.headers['x-key'], 'canary-0123456789');
  });

  it('to an origin that is not declared, or from https to http, is refused', async (t) => {
    for (const location of ['https://evil.example.com/', 'http://api.example.com/', 'ftp://api.example.com/']) {
      const { result, first } = await follow(t, { location });
      assert.equal(result.kind, 'refused', location);
      assert.equal(first.requests.length, 1);
    }
  });

  it('is followed only as often as the policy allows', async (t) => {
    const { result, first } = await follow(t, { location: '/start' });
    assert.equal(result.kind, 'unreachable');
    assert.equal(first.requests.length, 4);
  });

  it('turns a POST into a GET as browsers do, but not for 307 and 308', async (t) => {
    for (const [status, method] of [
      [301, 'GET'],
      [302, 'GET'],
      [303, 'GET'],
      [307, 'POST'],
      [308, 'POST'],
    ] as const) {
      const { other } = await follow(t, { status, location: `${otherOrigin}/`, method: 'POST' });
      assert.deepEqual([other.requests[0]?.method, other.requests[0]?.body], [method, method === 'POST' ? '{}' : '']);
    }
  });
});

describe('a response', () => {
  it('that repeats the credential in its body or headers is returned without it', async (t) => {
    const secret = 'canary "quoted"/0123456789+x';
    const echoes = [
      secret,
      Buffer.from(`u:${secret}`).toString('base64'),
      encodeURIComponent(secret),
      JSON.stringify(secret),
    ];
    const upstream = await startServer(t, (_request, response) => {
      response.writeHead(500, {
        'X-Echo': encodeURIComponent(secret),
        'X-Base64': Buffer.from(secret).toString('base64'),
      });
      response.end(echoes.join('\n'));
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const policy = policyFor({
      credentials: secretsOf({ api_key: secret }),
      inject: [{ in: 'path', credential: 'api_key' }],
    });
    const result = await broker.send({ method: 'GET', url: `${apiOrigin}/{credential:api_key}/a` }, policy, never);
    assert.ok(result.kind === 'response');
    const seen = JSON.stringify([result.headers, result.body.toString(), result.finalUrl]);
    assert.equal(seen.match(/\[redacted\]/g)?.length, 7);
    assert.doesNotMatch(seen, /canary|0123456789/);
  });

  for (const [charset, encode] of Object.entries(encoders)) {
    it(`that repeats the credential in ${charset} is returned without it, in UTF-8`, async (t) => {
      const secret = charset === 'iso-2022-jp' ? 'canary-word-0123456789' : 'canary-wörd-0123456789';
      const upstream = await startServer(t, (_request, response) => {
        response.writeHead(200, { 'Content-Type': `application/json; charset="${charset}"; a=b` });
        response.end(encode(`{"a":"before ${secret} after"}`));
      });
      const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
      const policy = policyFor({
        credentials: secretsOf({ api_key: secret }),
        inject: [{ in: 'query', name: 'key', credential: 'api_key' }],
      });
      const result = await broker.send({ method: 'GET', url: apiOrigin }, policy, never);
      assert.ok(result.kind === 'response');
      assert.equal(result.headers['content-type'], 'application/json; charset=utf-8; a=b');
      assert.equal(result.body.toString(), '{"a":"before [redacted] after"}');
    });
  }

  it('in another charset is returned unchanged if it contains no secret', async (t) => {
    const body = Buffer.from('Tokyo', 'utf16le');
    const upstream = await startServer(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-16le' }).end(body);
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const policy = policyFor({ credentials: secretsOf({ api_key: 'canary-0123456789' }) });
    const result = await broker.send({ method: 'GET', url: apiOrigin }, policy, never);
    assert.ok(result.kind === 'response');
    assert.deepEqual([result.headers['content-type'], result.body], ['text/plain; charset=utf-16le', body]);
  });
});
