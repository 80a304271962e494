import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestEvaluated, mostEvaluated } from '@quartermaster/contract';
import { createEvaluations, type ExpectedAnswer, type StoredEvaluation } from './evaluations.ts';
import { mostStoredBytes } from './fit-result.ts';

/** Evaluates these questions. Each finds one document with this title. */
async function evaluate(questions: readonly ExpectedAnswer[], title: string) {
  const stored: StoredEvaluation[] = [];
  const skipped = Array.from({ length: mostEvaluated }, (_, at) => ({
    row: 1_000_000 + at,
    code: 'empty_question',
    message: 'The row has no question.'.padEnd(150),
  }));
  const found = Array.from({ length: 40 }, () => '\u0004'.repeat(64));
  const columns = { question: 1, answer: 2, header_row: 1 };
  const sheets = Array.from({ length: 5 }, () => ({ sheet: 's'.repeat(255), found, header_row: 1, columns }));
  const evaluations = createEvaluations({
    clock: { now: () => 0 },
    collections: { find: async () => ({}) as never }, // only its existence matters
    evaluations: { find: async () => undefined, save: async (one) => void stored.push(one) },
    readQuestions: async () => ({ questions, numSkipped: skipped.length, skipped, sheets }),
    answerQuestion: async () => ({ items: [{ chunk_id: 'a', title, content: 'b' }] }) as never, // what is compared
  });
  const place = { projectId: 'p', keyId: 'k', collectionId: 'c', reach: 'all' } as never;
  const answer = await evaluations.run(place, { file_id: 'f' }, new AbortController().signal);
  return { answer, stored: stored[0]?.result };
}

test('the largest evaluation is answered in full, and stored with cut texts', async () => {
  const questions = Array.from({ length: mostEvaluated }, (_, at) => ({
    row: at + 2,
    // JSON writes six bytes for each of these characters.
    question: '\u0001'.repeat(longestEvaluated),
    expected: '\u0002'.repeat(5_000),
  }));
  const { answer, stored } = await evaluate(questions, '\u0003'.repeat(2_048));
  assert.equal(answer.questions[0]?.question.length, longestEvaluated);
  assert.ok(stored);
  const bytes = Buffer.byteLength(JSON.stringify(stored));
  assert.ok(bytes <= mostStoredBytes && bytes > mostStoredBytes / 4, `${bytes} bytes`);
  const texts = { question: '', expected: '', best: '' };
  assert.deepEqual(
    stored.questions.map((one) => ({ ...one, ...texts })),
    answer.questions.map((one) => ({ ...one, ...texts })),
  );
  assert.deepEqual({ ...stored, questions: [] }, { ...answer, questions: [] });
});

test('an evaluation of ordinary questions is stored as it is answered', async () => {
  const question = 'When does the library open on Saturdays?';
  const questions = Array.from({ length: mostEvaluated }, (_, at) => ({
    row: at,
    question,
    expected: 'Opening hours',
  }));
  const { answer, stored } = await evaluate(questions, 'Opening hours');
  assert.equal(answer.num_first, mostEvaluated);
  assert.deepEqual(stored, answer);
});
