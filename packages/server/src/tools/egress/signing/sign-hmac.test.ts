import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type { HmacSigning } from '@quartermaster/plugin-kit';
import { createHmacSigner, hmacKey } from './sign-hmac.ts';
import type { Signable } from './signing.ts';

const request: Signable = {
  method: 'POST',
  host: 'api.example.com',
  path: '/v1/a%20b',
  query: 'b=2&a=%C3%BC',
  headers: { 'content-type': 'application/json' },
  body: '{"ü":1}',
};
const base: HmacSigning = {
  in: 'hmac',
  credential: 'SECRET',
  algorithm: 'sha256',
  message: '{body}',
  signature: { in: 'header', name: 'X-Signature' },
};

function sign(changes: Partial<HmacSigning>, over: Partial<Signable> = {}, key = 'key', now = 1_700_000_000_123) {
  const declared = { ...base, ...changes };
  const bytes = hmacKey(key, declared.key_encoding) ?? assert.fail('a key');
  const credentialOf = (name: string) => ({ KEY_ID: 'id-1' })[name];
  return createHmacSigner(declared, bytes, credentialOf)({ ...request, ...over }, now);
}

describe('an HMAC signature', () => {
  it('matches the published examples', () => {
    // RFC 4231, test case 2; GitHub, "Validating webhook deliveries".
    const rfc = sign({}, { body: 'what do ya want for nothing?' }, 'Jefe');
    assert.equal(rfc.headers['x-signature'], '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
    const place = { in: 'header', name: 'X-Hub-Signature-256', template: 'sha256={signature}' } as const;
    const gitHub = sign({ signature: place }, { body: 'Hello, World!' }, "It's a Secret to Everybody");
    assert.equal(
      gitHub.headers['x-hub-signature-256'],
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
    // Binance, "SIGNED Endpoint Examples for POST /api/v3/order": the parameters as a query.
    const query =
      'symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559';
    const binance = sign(
      { message: '{query}', signature: { in: 'query', name: 'signature' } },
      { query, body: undefined },
      'NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j',
    );
    assert.deepEqual(binance.query, [
      ['signature', 'c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71'],
    ]);
  });

  it('covers the parts of the request that the message names', () => {
    const message =
      '{method}\n{host}\n{path}\n{query}\n{sorted_query}\n{path_and_query}\n{body}\n{header:Content-Type}\n{credential:KEY_ID}';
    const expected =
      'POST\napi.example.com\n/v1/a%20b\nb=2&a=%C3%BC\na=%C3%BC&b=2\n/v1/a%20b?b=2&a=%C3%BC\n{"ü":1}\napplication/json\nid-1';
    const { headers } = sign({ message });
    assert.equal(headers['x-signature'], createHmac('sha256', 'key').update(expected).digest('hex'));
  });

  it('is computed with each algorithm and encoding, and from each notation of a key', () => {
    for (const algorithm of ['sha1', 'sha256', 'sha384', 'sha512'] as const) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        const expected = createHmac(algorithm, Buffer.from('key')).update('{"ü":1}').digest(encoding);
        for (const [key_encoding, key] of [
          ['text', 'key'],
          ['hex', '6b6579'],
          ['base64', 'a2V5'],
        ] as const) {
          assert.equal(sign({ algorithm, encoding, key_encoding }, {}, key).headers['x-signature'], expected);
        }
      }
    }
    assert.equal(hmacKey('no hex', 'hex'), null);
    assert.equal(hmacKey('*', 'base64'), null);
  });

  it('sends the time and the nonce that it signs, if they are declared', () => {
    const { headers, query } = sign({
      message: '{timestamp}.{nonce}.{query}',
      timestamp: { format: 'milliseconds', in: 'query', name: 'ts' },
      nonce: { in: 'header', name: 'X-Nonce' },
      signature: {
        in: 'header',
        name: 'Authorization',
        template: '{credential:KEY_ID}:{timestamp}:{nonce}:{signature}',
      },
    });
    const nonce = headers['x-nonce'] ?? '';
    assert.match(nonce, /^[0-9a-f]{32}$/);
    assert.deepEqual(query, [['ts', '1700000000123']]);
    const signed = `1700000000123.${nonce}.b=2&a=%C3%BC&ts=1700000000123`;
    const signature = createHmac('sha256', 'key').update(signed).digest('hex');
    assert.equal(headers.authorization, `id-1:1700000000123:${nonce}:${signature}`);
  });

  it('writes the time in each format', () => {
    const timeIn = (format: NonNullable<HmacSigning['timestamp']>['format']) =>
      sign({ timestamp: { format, in: 'header', name: 'Date' } }).headers.date;
    assert.equal(timeIn('seconds'), '1700000000');
    assert.equal(timeIn('iso8601'), '2023-11-14T22:13:20.123Z');
    assert.equal(timeIn('http_date'), 'Tue, 14 Nov 2023 22:13:20 GMT');
  });

  it('covers a body of bytes unchanged', () => {
    const body = new Uint8Array([0xff, 0x00, 0xfe]);
    const { headers } = sign({}, { body });
    assert.equal(headers['x-signature'], createHmac('sha256', 'key').update(body).digest('hex'));
    const hashed = sign({ message: '{body_sha256} {body_sha256_base64}' }, { body: undefined });
    const empty =
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
    assert.equal(hashed.headers['x-signature'], createHmac('sha256', 'key').update(empty).digest('hex'));
  });
});
