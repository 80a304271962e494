import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPlaceholder } from '../egress/placeholders/placeholders.ts';
import { openTestBed } from '../execution/sandbox/testing/test-bed.suite.ts';
import { openPiece } from './piece-process.ts';
import { pieceOf } from './testing/small-pieces.suite.ts';

const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());

/** Actions that see `key` and `login`, and the error or the result of each. */
const actions: Readonly<Record<string, readonly [string, RegExp | unknown]>> = {
  hmac: [`return crypto.createHmac('sha256', key).update('a').digest('hex');`, /\(crypto\.createHmac\)/],
  bytes: [`return crypto.createHmac('sha256', Buffer.from('AWS4' + key)).digest('hex');`, /\(crypto\.createHmac\)/],
  decoded: [`return crypto.createHmac('sha256', Buffer.from(key, 'base64'));`, /\(crypto\.createHmac\)/],
  digest: [
    `return crypto.createHash('md5').update(login + ':realm:' + key).digest('hex');`,
    /\(crypto\.Hash\.update\)/,
  ],
  stream: [`return crypto.createHash('md5').end(key);`, /\(crypto\.Hash\._transform\)/],
  encoded: [`return crypto.createHash('md5').update(btoa('me:' + key));`, /\(crypto\.Hash\.update\)/],
  token: [`return crypto.sign('RSA-SHA256', 'a', { key, passphrase: '' });`, /\(crypto\.sign\)/],
  signer: [`return crypto.createSign('RSA-SHA256').update('a').sign(key);`, /\(crypto\.Sign\.sign\)/],
  derive: [`return crypto.scryptSync(key, 'salt', 16);`, /\(crypto\.scryptSync\)/],
  web: [
    `return await globalThis.crypto.subtle.importKey('raw', new TextEncoder().encode(key), 'HKDF', false, []);`,
    /\(crypto\.subtle\.importKey\)/,
  ],
  jwk: [
    `return await crypto.webcrypto.subtle.importKey('jwk', { kty: 'oct', k: key }, 'HKDF', false, []);`,
    /\(crypto\.subtle\.importKey\)/,
  ],
  imported: [
    `const { createHmac } = await import('node:crypto'); return createHmac('sha256', key);`,
    /\(crypto\.createHmac\)/,
  ],
  caught: [`try { crypto.createHmac('sha256', key); } catch {} return { ok: true };`, /\(crypto\.createHmac\)/],
  unsigned: [
    `try { crypto.createHmac('sha256', key); } catch {} await fetch('https://api.example.com/');`,
    /\(crypto\.createHmac\)/,
  ],
  account: [`return JSON.parse(key).client_email;`, /not valid JSON\. It reads or computes with its secret \("key"\)/],
  parts: [
    `return Buffer.from(key.split(':')[1], 'hex');`,
    /It may have failed because it reads or computes with its secret \("key"\)/,
  ],
  pem: [`throw new Error('Invalid PEM formatted message.');`, /^Invalid PEM formatted message\. It may have failed/],
  other: [
    `return crypto.createHmac('sha256', login).update(crypto.randomUUID().slice(0, 0)).digest('hex').length;`,
    64,
  ],
  web2: [`return (await globalThis.crypto.subtle.digest('SHA-256', new Uint8Array(3))).byteLength;`, 32],
  basic: [
    `return await fetch('https://api.example.com/', { headers: { authorization: 'Basic ' + btoa(login + ':' + key) } }).then(() => 'sent');`,
    'sent',
  ],
  sent: [
    `await fetch('https://api.example.com/', { headers: { authorization: 'Basic ' + btoa('x' + login + ':' + key) } }); JSON.parse('<');`,
    /^Unexpected token '<', "<" is not valid JSON$/,
  ],
  wrong: [`throw new Error('Choose a channel.');`, /^Choose a channel\.$/],
};

test('a piece that misses a member of the answer of a token endpoint fails with its name', async () => {
  const bodies = {
    given: `return [auth.data.instance_url, auth.data.authed_user.access_token === auth.access_token, JSON.stringify(auth).length > 9];`,
    label: `await fetch('https://' + auth.data.realm + '.example.com/', { headers: { authorization: auth.access_token } });`,
    whole: `await fetch(auth.data['realm'] + '/items');`,
    optional: `if (auth.data.team) return 1; await fetch('https://api.example.com/', { headers: { authorization: auth.access_token } }); throw new Error('No items.');`,
  };
  await using piece = await openPiece(Buffer.from(pieceOf(bodies)), bed.sandbox);
  const fields = { access_token: createPlaceholder(), instance_url: 'https://a.example.com' };
  const run = async (action: string) => {
    const task = { mode: 'run', action, props: {}, auth: { kind: 'OAUTH2', fields } } as const;
    const send = async () => ({ status: 200, headers: {}, text: '' });
    const outcome = await piece.run(task, new AbortController().signal, send);
    return outcome.kind === 'failed' ? outcome.message : JSON.stringify(outcome);
  };
  assert.match(await run('given'), /\["https:\/\/a\.example\.com",true,true\]/);
  for (const action of ['label', 'whole'])
    assert.match(await run(action), /The piece reads "realm" of the answer of the token endpoint.*do not have\./);
  assert.equal(await run('optional'), 'No items.');
});

test('a piece that computes with its secret is refused with the name of the secret, and other computations work', async () => {
  const bodies = Object.entries(actions).map(([name, [body]]) => [
    name,
    `const crypto = require('crypto'); const { key, login } = auth.props; ${body}`,
  ]);
  await using piece = await openPiece(Buffer.from(pieceOf(Object.fromEntries(bodies))), bed.sandbox);
  for (const [action, [, expected]] of Object.entries(actions)) {
    const auth = { kind: 'CUSTOM_AUTH', fields: { login: 'me', key: createPlaceholder() } } as const;
    const task = { mode: 'run', action, props: {}, auth } as const;
    let requests = 0;
    const outcome = await piece.run(task, new AbortController().signal, async () => {
      requests += 1;
      return { status: 200, headers: {}, text: '' };
    });
    if (!(expected instanceof RegExp)) {
      assert.deepEqual(outcome, { kind: 'returned', output: { result: expected } }, action);
      continue;
    }
    assert.match(outcome.kind === 'failed' ? outcome.message : outcome.kind, expected, action);
    if (/crypto/.test(expected.source)) {
      assert.match(JSON.stringify(outcome), /computes with its secret \\"key\\".* Use another bundle .*pieces\.md\./);
      assert.equal(requests, 0, `${action} sent a request without its signature`);
    }
  }
});
