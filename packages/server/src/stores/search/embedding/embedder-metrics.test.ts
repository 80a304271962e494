import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../platform/metrics.ts';
import { createEmbedderMetrics } from './embedder-metrics.ts';

test('the metrics show tokens by use, a paused embedder and the backlog at the time they are read', async () => {
  const registry = createMetrics();
  const metrics = createEmbedderMetrics(registry);
  let isPaused = false;
  let backlog = 2;
  metrics.observe({ isPaused: () => isPaused, countBacklog: async () => backlog });
  metrics.tokensUsed('chunk', 7);
  metrics.tokensUsed('chunk', 5);
  metrics.tokensUsed('question', 3);
  const lines = async () => (await registry.metrics()).split('\n');
  const first = await lines();
  for (const line of [
    'quartermaster_embedding_tokens_total{use="chunk"} 12',
    'quartermaster_embedding_tokens_total{use="question"} 3',
    'quartermaster_embedder_paused 0',
    'quartermaster_embedding_backlog_collections 2',
  ]) {
    assert.ok(first.includes(line), line);
  }
  isPaused = true;
  backlog = 0;
  const second = await lines();
  assert.ok(second.includes('quartermaster_embedder_paused 1'));
  assert.ok(second.includes('quartermaster_embedding_backlog_collections 0'));
});
