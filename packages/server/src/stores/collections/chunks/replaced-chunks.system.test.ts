import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestCollection, openTestDatabase, openTestPostgres } from '../testing/test-collections.suite.ts';

/** Forty paragraphs, which make more than twenty chunks. */
const textOf = (version: number) =>
  Array.from({ length: 40 }, (_, n) => `Section ${n} zebra version${version} ${`lorem${n} `.repeat(80)}`).join('\n\n');

for (const [name, open] of Object.entries({ SQLite: openTestDatabase, PostgreSQL: openTestPostgres })) {
  test(`each question finds one version of a record while others replace it, in ${name}`, async (t) => {
    const { call, record, settled, collectionId: id } = await openTestCollection(t, { database: await open(t) });
    const { record_id: recordId } = await record(id, { content: textOf(0) });
    let isDone = false;
    const answers: Array<{ readonly topK: number; readonly versions: number; readonly results: number }> = [];
    const ask = async (topK: number) => {
      while (!isDone) {
        const { body } = await call('POST', `/v1/collections/${id}/chunks/query`, { query_text: 'zebra', top_k: topK });
        const texts: string[] = body.data.map((chunk: { content: string }) => chunk.content);
        const versions = new Set(texts.flatMap((text) => /version\d+/.exec(text)?.[0] ?? []));
        answers.push({ topK, versions: versions.size, results: texts.length });
      }
    };
    const asking = Promise.all([3, 21, 21].map(ask));
    for (let version = 1; version <= 12; version += 1) {
      await call('POST', `/v1/collections/${id}/records/${recordId}`, { type: 'text', content: textOf(version) });
      await settled(id, recordId);
    }
    isDone = true;
    await asking;
    assert.ok(answers.length > 20, `${answers.length} answers`);
    t.diagnostic(`${answers.length} answers`);
    const wrong = answers.filter(({ versions, results }) => versions !== 1 || results === 0);
    assert.deepEqual(wrong, []);
  });
}
