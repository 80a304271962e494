import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedSheets, measureExactQuestions } from '../scripts/score/exact-questions.ts';
import { createTestDatabase } from './support/postgres.ts';

/** The share of questions of pairs that find their pair first. */
const least = 0.99;

for (const database of ['SQLite', 'PostgreSQL']) {
  test(`the exact question of a pair finds it before 1,000 similar ones, with ${database}`, async (t) => {
    const settings: Record<string, string> = {};
    if (database === 'PostgreSQL') {
      const { url, drop } = await createTestDatabase();
      t.after(drop);
      settings.DATABASE_URL = url;
    }
    // Both databases rank with the same code, so one of them shows it for every language.
    const sheets = database === 'SQLite' ? 5 : 2;
    const scores = await measureExactQuestions(generatedSheets().slice(-sheets), settings);
    assert.equal(scores.length, sheets);
    for (const { sheet, pairs, asked, first } of scores) {
      assert.ok(pairs >= 1000 && asked >= 150, `${sheet}: ${asked} of ${pairs} questions`);
      assert.ok(first >= least * asked, `${sheet}: ${first} of ${asked} questions find their pair first`);
    }
  });
}
