import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Evaluation, mostEvaluated } from '@quartermaster/contract';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../testing/test-collections.suite.ts';

const databases = { SQLite: openTestDatabase, PostgreSQL: openTestPostgres };

for (const [name, openDatabase] of Object.entries(databases)) {
  test(`${name}: an evaluation tells where expected documents and passages are found, and compares with the last one`, async (t) => {
    const files = createTestFiles();
    const { call, collection, record, projectId } = (
      await openTestService(t, { database: await openDatabase(t), files })
    ).createProject();
    const collectionId = await collection();
    assert.deepEqual((await call('GET', `/v1/collections/${collectionId}/evaluations`)).body.data, []);
    await record(collectionId, { title: 'Opening hours', content: 'The library opens at nine in the morning.' });
    await record(collectionId, { title: 'Dogs', content: 'Dogs must stay outside the library.' });
    const evaluate = async (sheet: string, more = {}) => {
      const file_id = files.add(projectId, 'qa_record_file', 'questions.csv', sheet);
      return call('POST', `/v1/collections/${collectionId}/evaluations`, { file_id, ...more });
    };
    const rows = [
      'question,expected',
      'When does the library open?,OPENING  hours',
      'May I bring dogs?,must stay outside',
      'library dogs outside,opening hours',
      'May I bring dogs?,nowhere written',
    ];
    const first: Evaluation = (await evaluate(rows.join('\n'))).body.data;
    assert.deepEqual(
      first.questions.map(({ row, rank, previous_rank }) => [row, rank, previous_rank]),
      [
        [2, 1, undefined],
        [3, 1, undefined],
        [4, 2, undefined],
        [5, null, undefined],
      ],
    );
    assert.equal(first.questions[2]?.best, 'Dogs');
    assert.deepEqual(
      [first.num_questions, first.num_first, first.num_within_three, first.num_within_ten, first.previous],
      [4, 2, 3, 3, null],
    );
    await record(collectionId, { title: 'Notes', content: 'It is nowhere written whether dogs may be brought.' });
    const second: Evaluation = (await evaluate([...rows, 'New?,Notes'].join('\n'))).body.data;
    assert.deepEqual(second.previous, {
      ...{ created_timestamp: first.created_timestamp, num_questions: 4 },
      ...{ num_first: 2, num_within_three: 3, num_within_ten: 3, num_same: 4 },
    });
    assert.deepEqual((await call('GET', `/v1/collections/${collectionId}/evaluations`)).body.data, [second]);
    const [, , , last, added] = second.questions;
    assert.deepEqual([last?.previous_rank, typeof last?.rank], [null, 'number']);
    assert.equal(Object.hasOwn(added ?? {}, 'previous_rank'), false);
    const named = await evaluate('Frage;Treffer\nDogs?;Dogs\n', { columns: { question: 'Frage', answer: 'Treffer' } });
    assert.equal(named.body.data.num_first, 1);
    const taken = { question: 1, answer: 2, header_row: 1 };
    assert.deepEqual(named.body.data.sheets, [
      { sheet: null, found: ['Frage', 'Treffer'], header_row: 1, columns: taken },
    ]);
    assert.equal(named.body.data.previous.num_same, 0);
    assert.equal((await evaluate('问题,期望文档\nDogs?,Dogs\n')).body.data.num_first, 1);
    assert.deepEqual([named.body.data.num_skipped, named.body.data.skipped], [0, []]);
    const blank = (await evaluate('question,expected\nDogs?,Dogs\n,Dogs\nDogs?,\n')).body.data as Evaluation;
    assert.deepEqual([blank.num_questions, blank.num_skipped], [1, 2]);
    assert.deepEqual(
      blank.skipped.map(({ row, code }) => [row, code]),
      [
        [3, 'empty_question'],
        [4, 'empty_answer'],
      ],
    );
  });
}

test('an evaluation refuses sheets with too many rows or too long questions, and what is no sheet', async (t) => {
  const files = createTestFiles();
  const { call, collection, projectId } = (await openTestService(t, { files })).createProject();
  const collectionId = await collection();
  const evaluate = async (sheet: string, id = collectionId) => {
    const file_id = files.add(projectId, 'qa_record_file', 'questions.csv', sheet);
    return call('POST', `/v1/collections/${id}/evaluations`, { file_id });
  };
  const sheetOf = (count: number) =>
    ['question,answer', ...Array.from({ length: count }, (_, at) => `Question ${at}?,Answer ${at}`)].join('\n');
  assert.equal((await evaluate(sheetOf(mostEvaluated))).body.data.num_questions, mostEvaluated);
  const refusals = {
    more: sheetOf(mostEvaluated + 1),
    '1[,]?001 char': `question,answer\n${'a'.repeat(1_001)},b`,
    columns: 'x,y,z\n1,2,3\n',
  };
  for (const [message, sheet] of Object.entries(refusals)) {
    const { status, body } = await evaluate(sheet);
    assert.deepEqual([status, body.error.code], [422, 'REQUEST_VALIDATION_ERROR']);
    assert.match(body.error.message, new RegExp(message));
    assert.doesNotMatch(body.error.message, /\.\.$|\.;/);
  }
  const { error } = (await evaluate('Topic,Goal,Note\nOpen?,Hours,old\nDogs?,Rules,new\n')).body;
  assert.match(error.message, /received a sheet with the columns "Topic", "Goal", "Note"\./);
  const [{ path, sheets }] = error.details;
  assert.deepEqual([path, sheets[0].found, sheets[0].header_row], ['body/file_id', ['Topic', 'Goal', 'Note'], 1]);
  assert.equal((await evaluate(sheetOf(1), `${collectionId.slice(0, -1)}0`)).status, 404);
  const missing = await call('POST', `/v1/collections/${collectionId}/evaluations`, { file_id: collectionId });
  assert.equal(missing.status, 404);
});
