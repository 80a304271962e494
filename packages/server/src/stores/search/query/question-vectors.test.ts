import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';
import { maxConcurrentQuestions, shareEmbedder } from '../embedding/share-embedder.ts';
import { createScriptedEmbedder } from '../testing/scripted-embedder.suite.ts';
import { createQuestionVectors } from './question-vectors.ts';

/** @param failures the errors of the first calls; null for a call that succeeds */
function open(failures: (call: number) => EmbedderUnavailable | null) {
  const clock = { time: 1_800_000_000_000, now: () => clock.time };
  const scripted = createScriptedEmbedder();
  let calls = 0;
  const embedder: Embedder = {
    ...scripted,
    embedQuestion: (text, signal) => {
      calls += 1;
      const failure = failures(calls);
      return failure === null ? scripted.embedQuestion(text, signal) : Promise.reject(failure);
    },
  };
  return { clock, questions: createQuestionVectors(embedder, clock), calls: () => calls };
}
const down = () => new EmbedderUnavailable('down');

test('an embedder that failed for three questions is used again after its pause, also when the clock is set back', async () => {
  const { clock, questions, calls } = open(down);
  const ask = () => assert.rejects(questions.find('a question'), EmbedderUnavailable);
  for (const expected of [2, 4, 6, 6]) {
    await ask();
    assert.equal(calls(), expected);
  }
  clock.time -= 3_600_000;
  await ask();
  assert.equal(calls(), 8);
  await ask();
  assert.equal(calls(), 8);
  clock.time += 10_000;
  await ask();
  assert.equal(calls(), 10);
});

test('one failed call is repeated, and does not silence the embedder', async () => {
  const { questions, calls } = open((call) => (call === 1 ? down() : null));
  assert.equal((await questions.find('a question')).length, 64);
  assert.equal(calls(), 2);
});

test('a call is not repeated when the service asks for a delay', async () => {
  const { questions, calls } = open(() => new EmbedderUnavailable('busy', 1_000));
  await assert.rejects(questions.find('a question'), EmbedderUnavailable);
  assert.equal(calls(), 1);
});

/** Questions in the queue of an embedder whose calls the test ends, behind timers that the test moves. */
function openQueue(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calls: Array<{ readonly text: string; readonly end: () => void }> = [];
  const embedder: Embedder = {
    ...createScriptedEmbedder(),
    embedQuestion: (text, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        calls.push({ text, end: () => resolve(Float32Array.of(1)) });
      }),
  };
  const shared = shareEmbedder(embedder, {
    admission: createAdmission(),
    pauses: { firstMs: 1_000, longestMs: 1_000 },
  });
  const { find } = createQuestionVectors(shared, { now: () => 0 });
  const settle = () => new Promise(setImmediate);
  const ask = (projectId: string, text: string) =>
    find(text, { projectId, keyId: null }).then(
      () => 'embedded',
      (error: Error) => error.message,
    );
  const pass = async (milliseconds: number) => {
    await settle();
    t.mock.timers.tick(milliseconds);
    await settle();
  };
  const endCalls = async () => {
    for (const { end } of calls) end();
    await settle();
  };
  const texts = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix} ${index}`);
  return { ask, pass, endCalls, texts, sent: () => calls.map(({ text }) => text) };
}
const places = maxConcurrentQuestions;

test('the limit of a question begins again when it is sent', async (t) => {
  const { ask, pass, endCalls, texts } = openQueue(t);
  for (const text of texts('before', places)) ask('a', text);
  const waiting = ask('a', 'waiting');
  await pass(2_900);
  await endCalls();
  await pass(2_900);
  await endCalls();
  assert.equal(await waiting, 'embedded');
  const slow = ask('a', 'slow');
  await pass(3_000);
  assert.equal(await slow, 'The embedder returned no vector within 3000 ms');
});

test('a question that waits too long behind others of its project does not stop the embedder for other projects', async (t) => {
  const { ask, pass, endCalls, texts } = openQueue(t);
  const asked = texts('of a', 2 * places + 1).map((text) => ask('a', text));
  await pass(2_000);
  await endCalls();
  await pass(1_000);
  assert.equal(await asked.at(-1), 'The question was not sent within 3000 ms');
  const other = ask('b', 'of b');
  await endCalls();
  await endCalls();
  assert.equal(await other, 'embedded');
});

test('the same question of another project does not wait among the questions of the first', async (t) => {
  const { ask, pass, endCalls, texts, sent } = openQueue(t);
  for (const text of texts('of a', 3 * places)) ask('a', text);
  ask('a', 'same');
  const other = ask('b', 'same');
  await pass(100);
  await endCalls();
  assert.equal(sent().filter((text) => text === 'same').length, 1);
  await endCalls();
  assert.equal(await other, 'embedded');
});
