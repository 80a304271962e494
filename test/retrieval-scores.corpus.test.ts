import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readBars, readSet, retrievalSets } from '../scripts/score/retrieval.ts';
import { compareRetrieval } from '../scripts/score/retrieval-page.ts';
import { configurations, measureRetrieval } from '../scripts/score/retrieval-service.ts';
import { measureSnowball } from '../scripts/score/snowball-bm25.ts';
import { createTestDatabase } from './support/postgres.ts';

const page = readFileSync(new URL('../docs/reference/retrieval.md', import.meta.url), 'utf8');

for (const [name, settings] of Object.entries(configurations)) {
  test(`questions find their passages as the page says, and above the bar: ${name}`, async () => {
    const scores = await measureRetrieval(name, settings, retrievalSets);
    assert.equal(scores.length, retrievalSets.length);
    assert.deepEqual(compareRetrieval(page, scores, readBars()), []);
    for (const { set, ndcg } of scores) {
      const reference = measureSnowball(readSet(set), set.slice(-2));
      assert.ok(ndcg >= reference, `${set}: ${ndcg} is below BM25 with stems, ${reference}`);
    }
  });

  test(`questions find their passages on PostgreSQL, too: ${name}`, async (t) => {
    const database = await createTestDatabase();
    t.after(() => database.drop());
    const scores = await measureRetrieval(name, { ...settings, DATABASE_URL: database.url }, ['xquad-zh']);
    assert.deepEqual(compareRetrieval(page, scores, readBars()), []);
  });
}
