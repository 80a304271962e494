import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createLogger } from '../../platform/log/logger.ts';
import type { Outbound } from '../../platform/outbound.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { createClientKey, proofOf } from './testing/client-proof.ts';
import { callback, clientId, openOauthApp } from './testing/oauth-app.ts';
import { createFlow } from './testing/oauth-flow.ts';

const keysUrl = 'https://app.example/keys.json';
/** As ChatGPT publishes it. */
const document = {
  client_id: clientId,
  client_name: 'ChatGPT',
  redirect_uris: ['https://app.example/connector/oauth/abc', callback],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  token_endpoint_auth_signing_alg: 'RS256',
  jwks_uri: keysUrl,
};
test('an application with a key proves it for each exchange, and nobody without the key gets a token', async (t) => {
  const opened = await openOauthApp(t);
  const { privateKey, publicKey, keys } = createClientKey();
  opened.documents.set(clientId, { text: JSON.stringify(document) });
  opened.documents.set(keysUrl, { text: keys });
  const { callbackOf, exchange, refresh, call } = createFlow(opened);
  const code = (await callbackOf()).searchParams.get('code') ?? '';
  const past = Math.floor(Date.now() / 1000) - 3600;
  const pem = publicKey.export({ format: 'pem', type: 'spki' });
  const used = proofOf(clientId, privateKey);
  const wrong: ReadonlyArray<readonly [string, object]> = [
    ['no proof', {}],
    ['no proof, named as none', { client_assertion_type: undefined, client_assertion: undefined }],
    ['another key', proofOf(clientId, privateKey, { key: createClientKey().privateKey })],
    ['for another server', proofOf(clientId, privateKey, { claims: { aud: 'https://other.example' } })],
    ['expired', proofOf(clientId, privateKey, { claims: { iat: past, exp: past + 60 } })],
    ['of another application', proofOf(clientId, privateKey, { claims: { iss: 'https://b.example/c' } })],
    ['without a number of its own', proofOf(clientId, privateKey, { claims: { jti: undefined } })],
    ['unsigned', proofOf(clientId, privateKey, { header: { alg: 'none' }, signature: () => '' })],
    [
      'signed with the public key as a secret',
      proofOf(clientId, privateKey, {
        header: { alg: 'HS256' },
        signature: (text) => createHmac('sha256', pem).update(text).digest('base64url'),
      }),
    ],
  ];
  for (const [name, fields] of wrong) {
    const answer = await exchange(code, { ...fields });
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_client'], name);
  }
  const first = await exchange(code, used);
  assert.equal(first.statusCode, 200, `a refused proof does not use the code: ${first.body}`);
  const { access_token, refresh_token } = first.json();
  assert.equal((await call(access_token)).statusCode, 200);
  for (const fields of [{}, used]) {
    assert.equal((await refresh(refresh_token, fields)).json().error, 'invalid_client', 'a proof is used once');
  }
  assert.equal((await refresh(refresh_token, proofOf(clientId, privateKey))).statusCode, 200);
  const fetched = opened.asked.filter((url) => url === keysUrl).length;
  for (let count = 0; count < 30; count += 1) {
    const answer = await refresh(refresh_token, proofOf(clientId, privateKey, { header: { kid: `${count}` } }));
    assert.equal(answer.json().error, 'invalid_client');
  }
  assert.ok(fetched <= 3, `${fetched} requests`);
  assert.ok(opened.asked.length <= 10, `${opened.asked.length} requests: unknown keys cause ten a minute at most`);
});

test('a host that sends its document slowly is given up after five seconds, with what it has sent forgotten', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(`{"client_id":"${clientId}",`);
    arrived.resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const overrides = new Map([['https://app.example', origin]]);
  const broker = createBroker({ overrides, allow: [], version: '1', logger: createLogger('silent') });
  t.after(() => broker.close());
  let isSettled = false;
  const outbound: Outbound = {
    ...broker,
    send: (...call) =>
      broker.send(...call).finally(() => {
        isSettled = true;
      }),
  };
  const opened = await openOauthApp(t, { outbound });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answer = createFlow(opened).authorize();
  await arrived.promise;
  for (const [passed, expected] of [
    [4999, false],
    [1, true],
  ] as const) {
    t.mock.timers.tick(passed);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isSettled, expected);
  }
  const { statusCode, body } = await answer;
  assert.deepEqual([statusCode, /invalid_client/.test(body)], [400, true], body);
  assert.equal((await opened.database.read.selectFrom('oauth_client').select('id').execute()).length, 0);
});
