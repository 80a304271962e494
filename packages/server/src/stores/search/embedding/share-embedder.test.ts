import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { type Embedder, EmbedderUnavailable } from './embedder.ts';
import { maxConcurrentQuestions, shareEmbedder } from './share-embedder.ts';

const never = new AbortController().signal;
const vector = Float32Array.of(1);

/** An embedder whose calls the test ends, behind a clock that the test sets. */
function openShared(lanes = 2) {
  const calls: Array<{ kind: string; end: PromiseWithResolvers<void> }> = [];
  const call = async (kind: string) => {
    const end = Promise.withResolvers<void>();
    calls.push({ kind, end });
    await end.promise;
  };
  const embedder: Embedder = {
    ...{ model: 'm', batchSize: 1, lanes },
    embed: async (texts) => {
      await call('batch');
      return texts.map(() => vector);
    },
    embedQuestion: async () => {
      await call('question');
      return vector;
    },
    close: async () => {},
  };
  const time = { now: 0, recovered: 0 };
  const shared = shareEmbedder(embedder, {
    admission: createAdmission(),
    pauses: { firstMs: 1_000, longestMs: 300_000 },
    now: () => time.now,
    onRecovered: () => {
      time.recovered += 1;
    },
  });
  const settle = () => new Promise(setImmediate);
  const batch = () => shared.embed(['a'], never);
  const question = () => shared.embedQuestion('a', never);
  /** Starts a call and ends the request that it sends. */
  const perform = async (start: () => Promise<unknown>, error?: EmbedderUnavailable) => {
    const sent = calls.length;
    const result = start().then(
      () => 'embedded',
      (thrown: Error) => thrown.message,
    );
    await settle();
    if (calls.length === sent) return [await result, 'not sent'];
    if (error === undefined) calls[sent]?.end.resolve();
    else calls[sent]?.end.reject(error);
    return [await result, 'sent'];
  };
  return { shared, time, calls, settle, batch, question, perform };
}

const down = new EmbedderUnavailable('down');

test('the calls of all batches share one limit, and questions have calls of their own', async () => {
  const { calls, settle, batch, question } = openShared(2);
  const started = [...Array(5)].map(batch);
  const asked = [...Array(maxConcurrentQuestions + 1)].map(question);
  const sent = () => ['batch', 'question'].map((kind) => calls.filter((call) => call.kind === kind).length);
  await settle();
  assert.deepEqual(sent(), [2, maxConcurrentQuestions]);
  calls[0]?.end.resolve();
  await settle();
  assert.deepEqual(sent(), [3, maxConcurrentQuestions]);
  while (calls.length < started.length + asked.length) {
    for (const { end } of calls) end.resolve();
    await settle();
  }
  for (const { end } of calls) end.resolve();
  assert.equal((await Promise.all([...started, ...asked])).length, 22);
});

test('a failed batch pauses the embedder, and the pause doubles until a call succeeds', async () => {
  const { shared, time, batch, perform } = openShared();
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    assert.deepEqual(await perform(batch, down), ['down', 'sent']);
    time.now += pauseMs - 1;
    assert.deepEqual([await perform(batch), shared.isPaused()], [['down', 'not sent'], true]);
    time.now += 1;
    assert.equal(shared.isPaused(), false);
  }
  assert.deepEqual([await perform(batch), time.recovered], [['embedded', 'sent'], 1]);
  assert.deepEqual(await perform(batch, down), ['down', 'sent']);
  time.now += 1_000;
  assert.deepEqual(await perform(batch), ['embedded', 'sent'], 'the pauses begin again');
});

test('batches that fail together count once', async () => {
  const { time, calls, settle, batch, perform } = openShared(4);
  const failing = [...Array(4)].map(() => batch().catch(() => undefined));
  await settle();
  for (const { end } of calls) end.reject(down);
  await Promise.all(failing);
  time.now += 1_000;
  assert.deepEqual(await perform(batch), ['embedded', 'sent']);
});

test('after a pause one batch tests the embedder, and the others wait for its end', async () => {
  const { time, calls, settle, batch, perform } = openShared(4);
  await perform(batch, down);
  time.now += 1_000;
  const waiting = [...Array(4)].map(batch);
  await settle();
  assert.equal(calls.length, 2);
  calls[1]?.end.resolve();
  await settle();
  assert.equal(calls.length, 5);
  for (const { end } of calls) end.resolve();
  assert.equal((await Promise.all(waiting)).length, 4);
});

test('a question tests a paused embedder every ten seconds, and its success ends the pause', async () => {
  const { shared, time, batch, question, perform } = openShared();
  for (let failures = 1; failures <= 6; failures++) {
    await perform(batch, down);
    if (failures < 6) time.now += 1_000 * 2 ** (failures - 1);
  }
  time.now += 9_999;
  assert.deepEqual(await perform(question), ['down', 'not sent']);
  time.now += 1;
  assert.deepEqual(await perform(question, down), ['down', 'sent']);
  assert.deepEqual(await perform(question), ['down', 'not sent']);
  time.now += 10_000;
  assert.equal(shared.isPaused(), true);
  assert.deepEqual(await perform(question), ['embedded', 'sent']);
  assert.deepEqual([shared.isPaused(), time.recovered], [false, 1]);
});

test('batches of projects are sent in turn, however many one of them has', async () => {
  const { shared, calls, settle } = openShared(1);
  const sent: string[] = [];
  const batches = ['a', 'a', 'a', 'a', 'b'].map(async (projectId) => {
    await shared.embed([projectId], never, { owner: { projectId, keyId: null } });
    sent.push(projectId);
  });
  for (let n = 0; n < batches.length; n++) {
    await settle();
    calls[n]?.end.resolve();
  }
  await Promise.all(batches);
  assert.deepEqual(sent, ['a', 'a', 'b', 'a', 'a']);
});

test('a delay that the service requests applies to batches and questions', async () => {
  const { time, batch, question, perform } = openShared();
  await perform(batch, new EmbedderUnavailable('busy', 60_000));
  time.now += 59_999;
  for (const call of [batch, question]) assert.deepEqual(await perform(call), ['busy', 'not sent']);
  time.now += 1;
  assert.deepEqual(await perform(question), ['embedded', 'sent']);
});

test('only three failed questions in a row pause the embedder for batches', async () => {
  const { shared, question, perform } = openShared();
  for (const outcome of [down, down, undefined, down, down]) await perform(question, outcome);
  assert.equal(shared.isPaused(), false);
  await perform(question, down);
  assert.equal(shared.isPaused(), true);
});

test('an attempt of a person is sent during a pause, which its success ends, and once in 10 s', async () => {
  const { shared, time, batch, perform } = openShared();
  const attempt = () => shared.embedNow('a', never);
  assert.equal(shared.findPause(), null);
  await perform(batch, new EmbedderUnavailable('slow', 3_600_000));
  time.now += 5_000;
  assert.deepEqual(shared.findPause(), { reason: 'slow', sinceMs: 5_000, remainingMs: 3_595_000 });
  assert.deepEqual(await perform(attempt, down), ['down', 'sent']);
  assert.deepEqual(await perform(attempt), ['slow', 'not sent']);
  assert.equal(shared.findPause()?.remainingMs, 3_595_000, 'a failed attempt does not extend the pause');
  time.now += 10_000;
  assert.deepEqual([await perform(attempt), time.recovered], [['embedded', 'sent'], 1]);
  assert.equal(shared.findPause(), null);
  assert.deepEqual(await perform(batch), ['embedded', 'sent']);
});
