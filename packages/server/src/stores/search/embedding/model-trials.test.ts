import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../platform/metrics.ts';
import { until } from '../../../platform/testing/until.ts';
import { createScriptedEmbedder } from '../testing/scripted-embedder.suite.ts';
import { createEmbedderMetrics } from './embedder-metrics.ts';
import { startModelTrials } from './try-model.ts';

test('each model is tried until it works, and each problem is logged once', async (t) => {
  const [first, second] = [createScriptedEmbedder('first', 64), createScriptedEmbedder('second', 48)];
  let trials = 0;
  const counted = {
    ...first,
    embedQuestion(text: string, signal: AbortSignal) {
      trials += 1;
      return first.embedQuestion(text, signal);
    },
  };
  first.fail('The embedding service rejected the API key with status 401.');
  const registry = createMetrics();
  const lines: unknown[] = [];
  const log = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
  const logger = { info: log('info'), warn: log('warn'), error: log('error') } as never;
  const running = startModelTrials(
    [
      { embedder: counted, dimensions: null },
      { embedder: second, dimensions: 64 },
    ],
    { metrics: createEmbedderMetrics(registry), logger, pauseMs: 1 },
  );
  t.after(() => running.close());
  await until(async () => trials >= 3);
  const working = async () =>
    (await registry.metrics()).split('\n').filter((line) => /^quartermaster_embedding_model_works/.test(line));
  assert.deepEqual(await working(), [
    'quartermaster_embedding_model_works{model="first"} 0',
    'quartermaster_embedding_model_works{model="second"} 0',
  ]);
  first.fail(null);
  await until(async () => lines.length === 3);
  const failed = trials;
  assert.deepEqual(lines, [
    [
      'warn',
      { model: 'first', reason: 'The embedding service rejected the API key with status 401.' },
      'embedding model failed',
    ],
    [
      'warn',
      {
        model: 'second',
        reason: 'The model returned a vector of 48 dimensions, but QUARTERMASTER_EMBEDDING_DIMENSIONS is 64.',
      },
      'embedding model failed',
    ],
    ['info', { model: 'first', dimensions: 64 }, 'embedding model works'],
  ]);
  assert.equal((await working())[0], 'quartermaster_embedding_model_works{model="first"} 1');
  const tried = second.texts.length;
  await until(async () => second.texts.length > tried + 2);
  assert.equal(trials, failed, 'a model that works is tried no more');
});
