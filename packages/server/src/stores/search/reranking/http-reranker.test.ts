import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseReranker, RerankerUnavailable } from './reranker.ts';
import { hiddenKey, rerankAnswer, startRerankService } from './testing/rerank-service.suite.ts';

const never = new AbortController().signal;
function createClock() {
  const clock = { time: 1_800_000_000_000, now: () => clock.time };
  return clock;
}
const texts = ['Carson City', 'Saipan', 'Washington, D.C.'];

test('a request has the members that Cohere documents, and the scores have the order of the texts', async (t) => {
  const { reranker, calls } = await startRerankService(t, () => rerankAnswer([0.3, 0.1, 0.99]));
  assert.deepEqual(await reranker.rank('What is the capital?', texts, never), [0.3, 0.1, 0.99]);
  assert.deepEqual(calls, [
    {
      asked: { model: 'rerank-v3.5', query: 'What is the capital?', documents: texts, top_n: 3 },
      path: '/v2/rerank',
      authorization: `Bearer ${hiddenKey}`,
    },
  ]);
});

test('Jina is asked not to return the texts, and a service without a key gets none', async (t) => {
  const usage = { total_tokens: 815 };
  const answered = { model: 'jina-reranker-v2-base-multilingual', usage, results: [{ index: 0, relevance_score: -2 }] };
  const { reranker, calls } = await startRerankService(t, () => ({ body: answered }), { provider: 'jina', key: null });
  assert.deepEqual(await reranker.rank('q', ['a'], never), [-2]);
  assert.equal(calls[0]?.asked.return_documents, false);
  assert.equal(calls[0]?.authorization, '');
});

const result = (index: unknown, relevance_score: unknown = 0.5) => ({ index, relevance_score });
const unusable = {
  'no JSON': ['<html>', /it is not JSON/],
  'no list': [{ result: [] }, /it has no list `results`/],
  'too few results': [{ results: [result(0)] }, /it has 1 results for 3 texts/],
  'an index out of range': [{ results: [result(3)] }, /an index is missing, out of range or occurs twice/],
  'an index twice': [{ results: [result(0), result(0)] }, /an index is missing, out of range or occurs twice/],
  'an index that is no whole number': [{ results: [result(0.5)] }, /an index is missing, out of range/],
  'a score that is no number': [{ results: [result(0, '1')] }, /a relevance_score is not a number/],
} as const;
for (const [name, [body, message]] of Object.entries(unusable)) {
  test(`an answer with ${name} is not used`, async (t) => {
    const { reranker } = await startRerankService(t, () => ({ body }));
    await assert.rejects(reranker.rank('q', texts, never), (error) => {
      assert.ok(error instanceof RerankerUnavailable);
      assert.match(error.message, message);
      return true;
    });
  });
}

test('a failure names its reason and what to check, and never the key', async (t) => {
  const messageOf = async (status: number) => {
    const body = { message: `invalid api token ${hiddenKey}` };
    const { reranker } = await startRerankService(t, () => ({ status, body }));
    const error: unknown = await reranker.rank('q', texts, never).catch((reason: unknown) => reason);
    assert.ok(error instanceof RerankerUnavailable);
    assert.ok(!error.message.includes(hiddenKey));
    return error.message;
  };
  assert.match(await messageOf(401), /status 401\. Check QUARTERMASTER_RERANKER_KEY\.$/);
  assert.match(
    await messageOf(404),
    /status 404\. Check QUARTERMASTER_RERANKER_URL and QUARTERMASTER_RERANKER_MODEL\.$/,
  );
  for (const status of [400, 429, 500, 503, 301])
    assert.match(await messageOf(status), new RegExp(`status ${status}\\.`));
});

test('a service that does not answer in time, or not at all, is unavailable', async (t) => {
  const slow = await startRerankService(t, () => null, { timeoutMs: 50 });
  await assert.rejects(slow.reranker.rank('q', texts, never), /did not answer within 50 ms/);
  const gone = await startRerankService(t, () => null, { url: 'http://127.0.0.1:1' });
  await assert.rejects(gone.reranker.rank('q', texts, never), RerankerUnavailable);
});

test('a service that failed three times in a row is not asked for ten seconds', async (t) => {
  const clock = createClock();
  const { reranker, calls } = await startRerankService(t, (_, call) =>
    call <= 3 ? { status: 500, body: {} } : rerankAnswer([1, 2, 3]),
  );
  const paused = pauseReranker(reranker, clock);
  for (let n = 0; n < 5; n++) await assert.rejects(paused.rank('q', texts, never), /status 500/);
  assert.equal(calls.length, 3);
  clock.time += 9_999;
  await assert.rejects(paused.rank('q', texts, never), /status 500/);
  assert.equal(calls.length, 3);
  clock.time += 1;
  assert.deepEqual(await paused.rank('q', texts, never), [1, 2, 3]);
  assert.equal(calls.length, 4);
});

test('a cancelled question is no failure of the service', async (t) => {
  const { reranker, calls } = await startRerankService(t, (_, call) => (call <= 4 ? null : rerankAnswer([1, 2, 3])));
  const paused = pauseReranker(reranker, createClock());
  for (let n = 1; n <= 4; n++) {
    const client = new AbortController();
    const asked = paused.rank('q', texts, client.signal);
    while (calls.length < n) await new Promise((resolve) => setImmediate(resolve));
    client.abort();
    await assert.rejects(asked, (error) => !(error instanceof RerankerUnavailable));
  }
  assert.deepEqual(await paused.rank('q', texts, never), [1, 2, 3]);
});
