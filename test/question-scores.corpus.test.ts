import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { askOrdinaryQuestions } from '../scripts/score/ordinary-questions.ts';
import { checkScores, compareQuestions } from '../scripts/score/question-page.ts';

const page = readFileSync(new URL('../docs/reference/questions.md', import.meta.url), 'utf8');

test('ordinary questions find their answers at least as early as the page says', async () => {
  const asked = await askOrdinaryQuestions();
  assert.equal(asked.length, 120);
  assert.deepEqual(compareQuestions(page, asked), []);
  assert.deepEqual(checkScores(asked), [], 'what scores promise');
});
