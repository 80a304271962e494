import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';
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
