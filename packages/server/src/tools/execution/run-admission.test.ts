import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { Problem } from '../../platform/problem.ts';
import { openBench, plainSecret } from './testing/execution.suite.ts';

/** Opens an executor whose upstream answers a run only on request, and a function that starts a run of a key. */
async function open(t: Parameters<typeof openBench>[0], maxRunsOfKey: number) {
  const waiting: ServerResponse[] = [];
  const arrivals = createServer();
  const upstream = (_request: unknown, response: ServerResponse) => {
    waiting.push(response);
    arrivals.emit('arrival');
  };
  const { executor } = await openBench(t, upstream, { maxRunsOfKey });
  const call = { bundle_id: 'echo', plugin_id: 'say', input_params: {}, credentials: { api_key: plainSecret } };
  const run = (keyId: string | null, input_params = {}) => {
    const caller = { projectId: 'p', keyId, origin: 'execute' as const };
    return executor.execute({ ...call, input_params }, new AbortController().signal, caller);
  };
  /** Starts runs, and resolves when the third party has their requests. */
  const start = async (keyId: string | null, count = 1) => {
    const expected = waiting.length + count;
    const runs = Array.from({ length: count }, () => run(keyId));
    while (waiting.length < expected) await once(arrivals, 'arrival');
    return runs;
  };
  /** Answers runs in the order of their requests. */
  const answer = (from = 0, count = waiting.length) => {
    for (const response of waiting.splice(from, count)) {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"said": "hi"}');
    }
  };
  return { run, start, answer };
}

const isRefusal = (error: unknown) =>
  error instanceof Problem && error.code === 'TOO_MANY_REQUESTS' && Number(error.headers['Retry-After']) > 0;

test('a key has a limited number of concurrent runs, other keys are not affected, and an ended run frees its place', async (t) => {
  const { run, start, answer } = await open(t, 2);
  const [first, second] = await start('a', 2);
  await assert.rejects(run('a'), isRefusal);
  const others = [...(await start('b')), ...(await start(null))];
  answer(2);
  for (const { outcome } of await Promise.all(others)) assert.equal(outcome.kind, 'succeeded');
  answer(0, 1);
  await first;
  await assert.rejects(run('a', { q: 5 }), { code: 'REQUEST_VALIDATION_ERROR' });
  const [third] = await start('a');
  await assert.rejects(run('a'), isRefusal);
  answer();
  await Promise.all([second, third]);
});

test('the limit runs_of_key accepts exactly as many runs of a key at once and refuses one more', async (t) => {
  const { run, start, answer } = await open(t, 3);
  const running = await start('a', 3);
  await assert.rejects(run('a'), isRefusal);
  answer();
  await Promise.all(running);
});
