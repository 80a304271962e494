import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { Injection } from '@quartermaster/plugin-kit';
import type { EgressRequest } from '../../../platform/outbound.ts';
import {
  apiOrigin,
  never,
  policyFor,
  type Received,
  secretsOf,
  startBroker,
  startServer,
} from '../testing/broker.suite.ts';
import { createAwsSigner } from './sign-aws.ts';

const secrets = { key: 'canary-0123456789', id: 'AKIDEXAMPLE', session: 'session-0123456789', region: 'eu-west-1' };
const json = { method: 'POST', headers: { 'content-type': 'application/json' } };

async function sendWith(t: TestContext, inject: Injection[], request: Partial<EgressRequest>) {
  const upstream = await startServer(t, (incoming, response) => {
    if (incoming.url?.startsWith('/moved')) response.writeHead(307, { location: '/here?moved=1' }).end();
    else response.end('ok');
  });
  const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
  const policy = policyFor({ credentials: secretsOf(secrets), inject });
  const result = await broker.send({ method: 'GET', url: `${apiOrigin}/v1`, ...request }, policy, never);
  return { result, requests: upstream.requests, received: upstream.requests.at(-1) ?? assert.fail('nothing came') };
}

describe('a credential in a JSON body', () => {
  const bodyOf = async (t: TestContext, inject: Injection[], request: Partial<EgressRequest>) =>
    (await sendWith(t, inject, request)).received.body;

  it('is a member of the body, and replaces that of the request', async (t) => {
    const inject: Injection[] = [
      { in: 'json', name: 'api_key', credential: 'key' },
      { in: 'json', name: '/auth/a~1b', credential: 'key', template: 'Key {credential}' },
    ];
    const sent = await bodyOf(t, inject, { ...json, body: '{"api_key":"mine","q":[1,"ü"],"auth":{"c":1}}' });
    const expected = { api_key: secrets.key, q: [1, 'ü'], auth: { c: 1, 'a/b': `Key ${secrets.key}` } };
    assert.deepEqual(JSON.parse(sent), expected);
  });

  it('creates a body for a method that allows one', async (t) => {
    const { received } = await sendWith(t, [{ in: 'json', name: 'k', credential: 'key' }], { method: 'POST' });
    assert.equal(received.body, `{"k":"${secrets.key}"}`);
    assert.equal(received.headers['content-type'], 'application/json');
  });

  it('is never a member of a prototype', async (t) => {
    const body = await bodyOf(t, [{ in: 'json', name: '/__proto__/k', credential: 'key' }], { ...json, body: '{}' });
    assert.equal(body, `{"__proto__":{"k":"${secrets.key}"}}`);
    assert.equal(Reflect.get({}, 'k'), undefined);
  });

  it('is not added to bodies of another type and to methods without a body', async (t) => {
    const inject: Injection[] = [{ in: 'json', name: 'k', credential: 'key' }];
    const text = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' };
    assert.equal(await bodyOf(t, inject, text), '{}');
    assert.equal(await bodyOf(t, inject, { method: 'GET' }), '');
  });

  it('is refused without being sent when the body has no place for it', async (t) => {
    const upstream = await startServer(t, (_request, response) => response.end());
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const policy = policyFor({
      credentials: secretsOf(secrets),
      inject: [{ in: 'json', name: '/a/b', credential: 'key' }],
    });
    for (const body of ['[1]', '{"a":1}', '{"a":[]}', 'no json', 'null']) {
      const result = await broker.send({ ...json, url: `${apiOrigin}/`, body }, policy, never);
      assert.equal(result.kind, 'refused', body);
    }
    assert.equal(upstream.requests.length, 0);
  });
});

it('a bearer token is sent in the Authorization header', async (t) => {
  const { received } = await sendWith(t, [{ in: 'bearer', credential: 'key' }], {});
  assert.equal(received.headers.authorization, `Bearer ${secrets.key}`);
});

describe('a request signed for AWS', () => {
  const aws: Injection = {
    in: 'aws_sigv4',
    access_key_id: 'id',
    secret_access_key: 'key',
    session_token: 'session',
    service: 'execute-api',
    region: { credential: 'region' },
  };

  /** Computes the signature like the receiver: over the received request, with the key that it knows. */
  function signatureOver({ method, url, headers, body }: Received, region = secrets.region): string | undefined {
    const date = String(headers['x-amz-date']);
    const time = Date.parse(date.replace(/^(.{4})(..)(..T..)(..)/, '$1-$2-$3:$4:'));
    const keys = { accessKeyId: secrets.id, secretAccessKey: secrets.key, sessionToken: secrets.session };
    const [path = '', query = ''] = url.split('?');
    const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    const sign = createAwsSigner({ ...keys, service: 'execute-api', region });
    return sign({ method, host: String(headers.host), path, query, headers: signed, body }, time).headers.authorization;
  }

  it('has a signature over what the upstream receives', async (t) => {
    const request = { ...json, url: `${apiOrigin}/a%20b/ü?x=1`, query: [['y', 'a b+c']] as const, body: '{"ü":1}' };
    const { received } = await sendWith(t, [aws], request);
    assert.equal(received.headers.authorization, signatureOver(received));
    assert.equal(received.headers['x-amz-security-token'], secrets.session);
    assert.ok(!JSON.stringify(received).includes(secrets.key));
  });

  it('is signed again after a redirect, including what other injections add', async (t) => {
    const inject: Injection[] = [aws, { in: 'header', name: 'X-Region', credential: 'region' }];
    const { requests } = await sendWith(t, inject, { ...json, url: `${apiOrigin}/moved`, body: '{}' });
    assert.equal(requests.length, 2);
    for (const received of requests) assert.equal(received.headers.authorization, signatureOver(received));
    assert.match(requests[1]?.headers.authorization ?? '', /;x-region,/);
  });

  it('uses the region of the bundle when no credential has one', async (t) => {
    const region = { credential: 'absent', default: 'us-east-2' };
    const { received } = await sendWith(t, [{ ...aws, region }], {});
    assert.equal(received.headers.authorization, signatureOver(received, 'us-east-2'));
  });

  it('is refused when half of the key or the region is missing, and sent unsigned without any of it', async (t) => {
    const broker = startBroker(t);
    const send = (changes: Partial<typeof secrets>) =>
      broker.send(
        { method: 'GET', url: `${apiOrigin}/` },
        policyFor({ credentials: secretsOf(changes as Record<string, string>), inject: [aws] }),
        never,
      );
    for (const changes of [{ id: 'x' }, { key: 'x' }, { id: 'x', key: 'x' }, { id: 'a\nb', key: 'x', region: 'x' }]) {
      assert.equal((await send(changes)).kind, 'refused');
    }
    // The request is signed and reaches the name lookup, which fails in tests.
    assert.equal((await send({ region: 'x' })).kind, 'unreachable');
  });
});

describe('a request signed with a keyed hash', () => {
  const inject: Injection[] = [
    { in: 'header', name: 'X-Key', credential: 'id' },
    {
      in: 'hmac',
      credential: 'key',
      algorithm: 'sha512',
      message: '{method}{path_and_query}{body}{header:X-Key}',
      encoding: 'base64',
      timestamp: { format: 'milliseconds', in: 'query', name: 'timestamp' },
      signature: { in: 'query', name: 'signature' },
    },
  ];

  it('has a signature over everything that is sent, and replaces a signature in the request', async (t) => {
    const { received } = await sendWith(t, inject, {
      ...json,
      url: `${apiOrigin}/v3/order?signature=mine&a=1&timestamp=1`,
      body: '{}',
    });
    const url = new URL(received.url, apiOrigin);
    const [signature] = url.searchParams.getAll('signature');
    assert.equal(url.searchParams.getAll('signature').length, 1);
    assert.equal(url.searchParams.getAll('timestamp').length, 1);
    const signed = `POST${received.url.replace(/&signature=.*$/, '')}{}${secrets.id}`;
    assert.equal(signature, createHmac('sha512', secrets.key).update(signed).digest('base64'));
  });

  it('is refused when its key does not have the declared encoding', async (t) => {
    const broker = startBroker(t);
    const hex: Injection[] = [
      {
        in: 'hmac',
        credential: 'key',
        key_encoding: 'hex',
        algorithm: 'sha1',
        message: 'x',
        signature: { in: 'header', name: 'S' },
      },
    ];
    const policy = policyFor({ credentials: secretsOf({ key: 'canary-not-hex' }), inject: hex });
    const result = await broker.send({ method: 'GET', url: `${apiOrigin}/` }, policy, never);
    assert.deepEqual(result, {
      kind: 'refused',
      message: 'the credential "key" is not hex, so it cannot be used as a signing key',
    });
  });

  it('never reveals its key in any encoding', async (t) => {
    const bytes = createHash('sha256').update('key').digest();
    const echoes = [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')];
    const upstream = await startServer(t, (_request, response) => response.end(echoes.join('\n')));
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const hmac = {
      in: 'hmac',
      credential: 'key',
      key_encoding: 'hex',
      algorithm: 'sha256',
      message: '{body}',
    } as const;
    const policy = policyFor({
      credentials: secretsOf({ key: bytes.toString('hex') }),
      inject: [{ ...hmac, signature: { in: 'header', name: 'S' } }],
    });
    const result = await broker.send({ method: 'GET', url: `${apiOrigin}/` }, policy, never);
    assert.ok(result.kind === 'response');
    assert.doesNotMatch(result.body.toString(), new RegExp(echoes.map(RegExp.escape).join('|')));
    assert.match(result.body.toString(), /^\[redacted\]\n\[redacted\]/);
  });
});
