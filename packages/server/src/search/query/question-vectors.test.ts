import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';
import { createScriptedEmbedder } from '../testing/scripted-embedder.suite.ts';
import { createQuestionVectors } from './question-vectors.ts';

test('an embedder that failed is used again after its pause, also when the clock is set back', async () => {
  const clock = { time: 1_800_000_000_000, now: () => clock.time };
  let requests = 0;
  const down: Embedder = {
    ...createScriptedEmbedder(),
    embedQuestion: () => {
      requests += 1;
      return Promise.reject(new EmbedderUnavailable('down'));
    },
  };
  const questions = createQuestionVectors(down, clock);
  const ask = () => assert.rejects(questions.find('a question'), EmbedderUnavailable);
  await ask();
  await ask();
  assert.equal(requests, 1);
  clock.time -= 3_600_000;
  await ask();
  assert.equal(requests, 2);
  await ask();
  assert.equal(requests, 2);
  clock.time += 10_000;
  await ask();
  assert.equal(requests, 3);
});
