import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { queues } from '../../../platform/admission/queues.ts';
import type { ChunkIndex } from '../chunk-index.ts';
import { createRetrieve } from './retrieve.ts';
import { createRankingScheduler, longRankingWords, mostConcurrentRankings } from './schedule-rankings.ts';

/** Lets every callback that is ready run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Asks collections whose rankings end when the test says so. The words of a question name its key. */
function openScheduler() {
  const started: string[] = [];
  const finish: Array<() => void> = [];
  const chunks: Pick<ChunkIndex<string>, 'rank'> = {
    async rank({ words: [name = ''] }) {
      started.push(name);
      await new Promise<void>((resolve) => finish.push(resolve));
      return [];
    },
  };
  const retrieve = createRetrieve(chunks as ChunkIndex<string>, null, createRankingScheduler(createAdmission()));
  const ask = (projectId: string, keyId: string, signal?: AbortSignal) =>
    retrieve({ projectId, keyId, collectionId: 'c', text: '', words: [`${projectId} ${keyId}`], limit: 3, signal });
  return { ask, started, finishOne: () => finish.shift()?.() };
}

test('at the limit concurrent_rankings, a question of another project is ranked next, however many wait', async () => {
  const { ask, started, finishOne } = openScheduler();
  const busy = Array.from({ length: 500 }, () => ask('busy', 'k1'));
  const other = ask('other', 'k2');
  await settle();
  assert.equal(started.length, mostConcurrentRankings);
  finishOne();
  await settle();
  assert.deepEqual(started.slice(mostConcurrentRankings), ['other k2']);
  finishOne();
  await settle();
  assert.deepEqual(started.slice(mostConcurrentRankings), ['other k2', 'busy k1']);
  for (let left = busy.length + 1; left > 0; left -= 1) {
    finishOne();
    await settle();
  }
  assert.deepEqual((await other).hits, []);
  assert.equal((await Promise.all(busy)).length, 500);
});

test('the limit waiting_rankings accepts exactly as many waiting rankings of a key and refuses one more', async () => {
  const scheduleRanking = createRankingScheduler(createAdmission());
  const end = Promise.withResolvers<void>();
  const ask = (keyId: string) => scheduleRanking({ projectId: 'p', keyId, words: [] }, () => end.promise);
  const accepted = Array.from({ length: mostConcurrentRankings + queues.rankings.waiting }, () => ask('busy'));
  await assert.rejects(ask('busy'), { code: 'TOO_MANY_REQUESTS' });
  end.resolve();
  await Promise.all(accepted);
});

test('a key ranks one long question at a time, which leaves a thread for others', async () => {
  const scheduleRanking = createRankingScheduler(createAdmission());
  const started: string[] = [];
  const end = Promise.withResolvers<void>();
  const ask = (projectId: string, keyId: string, count = longRankingWords + 1) =>
    scheduleRanking({ projectId, keyId, words: Array.from({ length: count }, (_, n) => `${n}`) }, async () => {
      started.push(`${projectId} ${keyId} ${count}`);
      await end.promise;
    });
  const all = Array.from({ length: 10 }, () => ask('busy', 'k'));
  await settle();
  assert.deepEqual(started, ['busy k 101']);
  all.push(ask('busy', 'k', longRankingWords), ask('other', 'k'));
  await settle();
  assert.deepEqual(started.toSorted(), ['busy k 100', 'busy k 101', 'other k 101']);
  end.resolve();
  await Promise.all(all);
});
