import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import type { StoredVectorSpace } from '../vector-repository.ts';
import { createSimilarityScales } from './similarity-scales.ts';

test('a project with many new collections does not delay the first measurement of another project', async () => {
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  const scales = createSimilarityScales({
    admission: createAdmission(),
    scales: {
      find: async () => undefined,
      save: async () => {},
      sample: async ({ collectionId }) => {
        begun.push(collectionId);
        await new Promise<void>((resolve) => ends.push(resolve));
        return [];
      },
    },
    logger: createLogger('silent'),
  });
  const ask = (collectionId: string, projectId: string) => {
    const vectors = { collectionId, model: 'm', firstChange: 0, lastChange: 1, needsBackfill: false };
    return scales.find(vectors as StoredVectorSpace, async () => Float32Array.of(1), { projectId, keyId: null });
  };
  const settle = () => new Promise(setImmediate);
  const asked = Array.from({ length: 5 }, (_, index) => ask(`of a ${index}`, 'a'));
  await settle();
  asked.push(ask('of b', 'b'));
  await settle();
  assert.ok(begun.includes('of b'), `begun: ${begun}`);
  while (begun.length < 6) {
    for (const end of ends) end();
    await settle();
  }
  for (const end of ends) end();
  assert.deepEqual(new Set(await Promise.all(asked)), new Set(['collection_not_embedded']));
});
