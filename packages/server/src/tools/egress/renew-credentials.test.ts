import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGrowingRedactor } from './redact/redactor.ts';
import { apiOrigin, never, policyFor, secretsOf, startBroker, startServer } from './testing/broker.suite.ts';

test('a request that is refused (401) is repeated once with renewed credentials, which later requests use and answers never show', async (t) => {
  const upstream = await startServer(t, ({ headers }, response) => {
    const isNew = headers.authorization === 'Bearer new-token-of-this-test';
    response.writeHead(isNew ? 200 : 401).end(`you sent ${headers.authorization}`);
  });
  const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
  const asked: string[] = [];
  const policy = policyFor({
    credentials: secretsOf({ TOKEN: 'old-token-of-this-test' }),
    inject: [{ in: 'bearer', credential: 'TOKEN' }],
    redactor: createGrowingRedactor(['old-token-of-this-test']),
    renew: async (refused) => {
      asked.push(refused.get('TOKEN')?.reveal() ?? '');
      return secretsOf({ TOKEN: 'new-token-of-this-test' });
    },
  });
  const send = () => broker.send({ method: 'POST', url: `${apiOrigin}/v1`, body: 'x' }, policy, never);
  const result = await send();
  assert.ok(result.kind === 'response' && result.status === 200);
  assert.doesNotMatch(result.body.toString(), /token-of-this-test/);
  assert.deepEqual(
    upstream.requests.map(({ body }) => body),
    ['x', 'x'],
  );
  await send();
  assert.equal(upstream.requests.length, 3);
  assert.deepEqual(asked, ['old-token-of-this-test']);
});

test('without other credentials, and after a second refusal, the refusal is the answer', async (t) => {
  const upstream = await startServer(t, (_request, response) => response.writeHead(401).end());
  const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
  for (const [credentials, requests] of [
    [null, 1],
    [secretsOf({ TOKEN: 'another-token' }), 2],
  ] as const) {
    const before = upstream.requests.length;
    const policy = policyFor({
      credentials: secretsOf({ TOKEN: 'refused-token' }),
      inject: [{ in: 'bearer', credential: 'TOKEN' }],
      renew: async () => credentials,
    });
    const result = await broker.send({ method: 'GET', url: `${apiOrigin}/v1` }, policy, never);
    assert.ok(result.kind === 'response' && result.status === 401);
    assert.equal(upstream.requests.length - before, requests);
  }
});
