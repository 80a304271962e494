import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createRunTimings, phasesOf } from '../execution/run-timings.ts';
import type { EgressPolicy } from './broker.ts';
import { apiOrigin, policyFor, startBroker, startServer } from './testing/broker.suite.ts';

type Answer = (response: ServerResponse) => void;

const busy =
  (status: number, retryAfter?: string): Answer =>
  (response) =>
    response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end('later');
const well: Answer = (response) => response.writeHead(200).end('well');

/** Simulates a third party that gives these responses in order and then repeats the last one. */
async function openBroker(t: TestContext, answers: readonly Answer[]) {
  let next = 0;
  const server = await startServer(t, (_request, response) => {
    answers[Math.min(next, answers.length - 1)]?.(response);
    next += 1;
  });
  const broker = startBroker(t, { overrides: new Map([[apiOrigin, server.origin]]) });
  const send = async (method: string, policy: Partial<EgressPolicy> = {}, signal = new AbortController().signal) => {
    const result = await broker.send({ method, url: `${apiOrigin}/` }, policyFor({ maxRetries: 2, ...policy }), signal);
    return result.kind === 'response' ? result.status : result.kind;
  };
  return { server, send };
}

test('a read that a busy third party refuses is repeated after the requested wait', async (t) => {
  const { server, send } = await openBroker(t, [busy(503), busy(429, '1'), well]);
  const trace = createRunTimings();
  assert.equal(await send('GET', { timeoutMs: 60_000, trace }), 200);
  assert.equal(server.requests.length, 3);
  assert.deepEqual(
    trace.calls.map((call) => call.status),
    [503, 429, 200],
  );
  // The third party asked for a second, which counts as time of the upstream.
  assert.ok(phasesOf(trace).upstream >= 1000);
});

test('a read is repeated at most twice, and not at all when the wait would be too long', async (t) => {
  const always = await openBroker(t, [busy(502, '0')]);
  assert.equal(await always.send('GET', { timeoutMs: 60_000 }), 502);
  assert.equal(always.server.requests.length, 3);
  for (const [retryAfter, timeoutMs] of [
    ['3600', 60_000],
    ['Fri, 31 Dec 2099 23:59:59 GMT', 60_000],
    ['9', 8_000],
  ] as const) {
    const { server, send } = await openBroker(t, [busy(429, retryAfter), well]);
    assert.equal(await send('GET', { timeoutMs }), 429);
    assert.equal(server.requests.length, 1);
  }
});

test('a read that is paid again with each repetition is sent once', async (t) => {
  for (const method of ['GET', 'POST']) {
    const { server, send } = await openBroker(t, [busy(504, '0'), well]);
    assert.equal(await send(method, { isRepeatable: false }), 504);
    assert.equal(server.requests.length, 1);
  }
});

test('a write is sent once, unless its plugin is idempotent, and other statuses are not retried', async (t) => {
  const write = await openBroker(t, [busy(503, '0'), well]);
  assert.equal(await write.send('POST'), 503);
  assert.equal(await write.send('DELETE', { maxRetries: 0 }), 200);
  const search = await openBroker(t, [busy(503, '0'), well]);
  assert.equal(await search.send('POST', { isRepeatable: true, timeoutMs: 60_000 }), 200);
  for (const status of [500, 400, 404]) {
    const { server, send } = await openBroker(t, [busy(status, '0'), well]);
    assert.equal(await send('GET'), status);
    assert.equal(server.requests.length, 1);
  }
});

test('a caller that disconnects does not wait for another attempt', async (t) => {
  const { server, send } = await openBroker(t, [busy(503, '9'), well]);
  const gone = new AbortController();
  const sending = send('GET', { timeoutMs: 60_000 }, gone.signal);
  const look = setInterval(() => server.requests.length > 0 && gone.abort(), 5);
  await assert.rejects(sending, { name: 'AbortError' });
  clearInterval(look);
  assert.equal(server.requests.length, 1);
});
