import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phasesOf } from './run-timings.ts';
import { openBench, secret } from './testing/execution.suite.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

test('the timings of a run contain every outbound call with host, status, bytes and time, but no path', async (t) => {
  const { execute, ended, server } = await openBench(t, (request, response) => {
    if (request.url?.startsWith('/say') === true) response.writeHead(302, { location: '/moved?secret=1' }).end('gone');
    else response.end('{"said":"hello"}');
  });
  const answer = await execute({ plugin_id: 'say', input_params: { q: 'canary-of-the-query' } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(server.requests.length, 2);
  const calls = ended[0]?.trace.calls ?? [];
  assert.deepEqual(
    calls.map(({ ms: _, ...call }) => call),
    [
      { host: 'api.example.com', method: 'GET', status: 302, result: 'answered', bytes: 4 },
      { host: 'api.example.com', method: 'GET', status: 200, result: 'answered', bytes: 16 },
    ],
  );
  const json = JSON.stringify(calls);
  assert.ok(!json.includes('canary') && !json.includes('moved') && !json.includes(secret), json);
});

test('a call that the policy forbids is recorded as refused, and one without a response as failed', async (t) => {
  const { execute, ended } = await openBench(t, (_request, response) => response.destroy());
  await execute({ plugin_id: 'handle', input_params: { q: 'elsewhere' } });
  await execute({ plugin_id: 'write', input_params: {} });
  const calls = ended.flatMap(({ trace }) => trace.calls);
  assert.deepEqual(
    calls.map(({ host, method, status, result }) => [host, method, status, result]),
    [
      ['evil.example.com', 'GET', null, 'refused'],
      ['api.example.com', 'POST', null, 'failed'],
    ],
  );
});

test('a call that a handler does not wait for is recorded too', async (t) => {
  const { promise: disconnected, resolve: noteLeft } = Promise.withResolvers<void>();
  const { execute, ended } = await openBench(t, (request, response) => {
    if (request.url?.startsWith('/left') === true) noteLeft();
    else void disconnected.then(() => response.end('{"said":"hello"}'));
  });
  const answer = await execute({ plugin_id: 'handle', input_params: { q: 'leave' } });
  assert.equal(answer.status, 200, answer.text);
  const calls = ended[0]?.trace.calls ?? [];
  assert.deepEqual(calls.map(({ status, result }) => [status, result]).sort(), [
    [null, 'failed'],
    [200, 'answered'],
  ]);
});

for (const plugin_id of ['say', 'handle']) {
  test(`the phases of ${plugin_id} add up to its duration`, async (t) => {
    const { execute, ended } = await openBench(t, (_request, response) => response.end('{"said":"hello"}'));
    const { body } = await execute({ plugin_id, input_params: { q: 'hello' } });
    const phases = phasesOf(ended[0]?.trace ?? assert.fail('no run has ended'));
    const all = Object.values(phases);
    assert.ok(Math.abs(sum(all) - body.data.duration_ms) < 0.01, `${JSON.stringify(phases)}: ${body.data.duration_ms}`);
    assert.ok(phases.upstream > 0 && phases.validate > 0 && phases.plugin > 0, JSON.stringify(phases));
    // The first run of a handler waits until its process has started.
    assert.equal(phases.start > 0, plugin_id === 'handle', JSON.stringify(phases));
  });
}
