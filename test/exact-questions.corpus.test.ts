import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusSheets, measureExactQuestions } from '../scripts/score/exact-questions.ts';

test('the exact questions of the sheets of the corpus find their pairs first', async (t) => {
  const scores = await measureExactQuestions(corpusSheets());
  assert.ok(scores.length >= 9);
  for (const { sheet, asked, first } of scores) {
    t.diagnostic(`${sheet}: ${first} of ${asked}`);
    assert.ok(first >= 0.99 * asked, `${sheet}: ${first} of ${asked} questions find their pair first`);
  }
});
