import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mark, openBench, plainSecret, secret } from './testing/execution.suite.ts';

const path = '/v1/bundles/echo/plugins/say/execute';
const header = (credentials: unknown) => Buffer.from(JSON.stringify(credentials)).toString('base64url');
const withKey = { 'x-plugin-credentials': header({ api_key: secret }) };

test('the body is the input, the header has the credentials, and the response is the output itself', async (t) => {
  const { app, server } = await openBench(t, (_q, response) => response.end('{"said":"hi"}'));
  const answer = await app.inject({ method: 'POST', url: path, payload: { q: 'hello' }, headers: withKey });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.deepEqual(answer.json(), { said: 'hi' });
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.match(String(answer.headers['x-run-id']), /^xrun/);
  const sent = new URL(server.requests[0]?.url ?? '', 'http://a').searchParams;
  assert.deepEqual([sent.get('q'), sent.get('key')], ['hello', secret]);
});

test('an output that does not match its schema is returned, and the header counts the errors', async (t) => {
  const { app } = await openBench(t, (_q, response) => response.end('{"said":5}'));
  const answer = await app.inject({ method: 'POST', url: path, payload: {}, headers: withKey });
  assert.deepEqual([answer.statusCode, answer.json(), answer.headers['x-output-violations']], [200, { said: 5 }, '1']);
});

test('errors are in the envelope and name the place in which the caller sent the value', async (t) => {
  const { app } = await openBench(t, (_q, response) => response.writeHead(500).end('no'));
  const post = async (payload: object, headers: Record<string, string>, url = path) => {
    const answer = await app.inject({ method: 'POST', url, payload, headers });
    return { status: answer.statusCode, ...answer.json().error };
  };
  const wrongInput = await post({ q: 5 }, withKey);
  assert.deepEqual([wrongInput.status, wrongInput.details[0].path], [422, 'body/q']);
  assert.match(wrongInput.message, /^body\/q must be a string; received a number \(5\)\./);
  const none = await post({}, {});
  assert.deepEqual([none.status, none.details[0].path], [422, 'headers/x-plugin-credentials/api_key']);
  assert.equal((await post({}, withKey)).code, 'PROVIDER_ERROR');
  assert.equal((await post([], withKey)).status, 422);
  assert.equal((await post({}, withKey, path.replace('say', 'nope'))).code, 'OBJECT_NOT_FOUND');
});

test('an invalid header is refused without repeating it', async (t) => {
  const { app, log } = await openBench(t, (_q, response) => response.end('{}'));
  const bad = [plainSecret, header([plainSecret]), header(plainSecret), `{"api_key":"${plainSecret}"}`, ''];
  for (const value of bad) {
    const headers = { 'x-plugin-credentials': value };
    const answer = await app.inject({ method: 'POST', url: path, payload: {}, headers });
    assert.deepEqual([answer.statusCode, answer.json().error.code], [400, 'INVALID_REQUEST'], value);
    assert.ok(!answer.body.includes(plainSecret) && !log.join('').includes(plainSecret));
  }
});

test('an Idempotency-Key runs a plugin once, in this form and in the other', async (t) => {
  const { app, execute, server } = await openBench(t, (_q, response) => response.end('{"said":"hi"}'));
  const headers = { ...withKey, 'idempotency-key': 'k1' };
  const first = await app.inject({ method: 'POST', url: path, payload: { q: 'a' }, headers });
  const second = await app.inject({ method: 'POST', url: path, payload: { q: 'a' }, headers });
  const other = await execute({ plugin_id: 'say', input_params: { q: 'a' } }, { 'idempotency-key': 'k1' });
  assert.equal(server.requests.length, 1);
  assert.equal(first.headers['x-run-id'], second.headers['x-run-id']);
  assert.equal(other.body.data.run_id, first.headers['x-run-id']);
});

test('a request may send its own credentials, and they are removed from the response', async (t) => {
  const { execute, server } = await openBench(t, (request, response) => {
    response.end(JSON.stringify({ said: `${request.headers.authorization} ${secret}` }));
  });
  const credentials = { api_key: secret, region: 'eu' };
  const { body } = await execute({ plugin_id: 'own', input_params: { q: 'a' }, credentials });
  assert.equal(new URLSearchParams(server.requests[0]?.body).get('token'), secret);
  const basic = Buffer.from(`eu:${secret}`).toString('base64');
  assert.equal(server.requests[0]?.headers.authorization, `Basic ${basic}`);
  assert.ok(!JSON.stringify(body).includes(basic) && !JSON.stringify(body).includes(mark), JSON.stringify(body));
});
