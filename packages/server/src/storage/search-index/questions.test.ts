import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordTerm } from '../../stores/search/filter-terms.ts';
import { buildSegment } from '../../stores/search/segments/build-segment.ts';
import { withSharedFlag } from './abort-flag.ts';
import { createQuestions } from './questions.ts';
import type { ThreadStatements } from './thread-statements.ts';

const count = 20_000;

/** A collection of one segment, whose chunks are all invisible, so that a question ranks again and again. */
function createThread(onStatement: (number: number) => void) {
  const chunks = Array.from({ length: count }, (_, at) => ({
    ...{ seq: at + 1, length: 2 },
    terms: new Map([
      ['red', 1],
      [`n${at}`, 1],
    ]),
  }));
  const { header, pages } = buildSegment(chunks);
  let statements = 0;
  const answers = (sql: string, values: readonly unknown[]): unknown[] => {
    if (sql.includes('from full_text')) return [];
    if (sql.includes('select id')) return [{ id: 1 }];
    if (sql.includes('select header')) return [{ bytes: header }];
    if (sql.includes('from index_page')) return [{ bytes: pages[Number(values[0]) % 2 ** 22] }];
    return [];
  };
  const thread: ThreadStatements = {
    all<Row>(sql: string, ...values: readonly unknown[]) {
      onStatement(++statements);
      // The rows are those that the statements of a question select.
      return answers(sql, values) as Row[];
    },
    lists() {
      onStatement(++statements);
      return [];
    },
    run: () => assert.fail('a question writes nothing'),
  };
  return { ...createQuestions(thread), statements: () => statements };
}

const question = {
  collectionId: 'c',
  projectId: null,
  words: ['red'],
  folded: null,
  exact: null,
  limit: 5,
  withChunks: false,
  condition: null,
  filter: null,
};

test('a question that has ended sends no further statement', () => {
  const whole = createThread(() => {});
  assert.deepEqual(whole.ask(question), { kind: 'ranked', chunks: [] });
  const all = whole.statements();
  assert.ok(all > count / 1000, `${all} statements`);

  for (const last of [1, 3, 10, 20]) {
    const ended = new Int32Array(new SharedArrayBuffer(4));
    const { ask, statements } = createThread((number) => {
      if (number === last) Atomics.store(ended, 0, 1);
    });
    assert.throws(() => ask({ ...question, ended }), { name: 'QuestionEnded' });
    // The index of the collection is opened and its lists are found before the next look at the flag.
    assert.ok(statements() <= Math.max(last, 12), `${statements()} statements after number ${last}`);
  }
});

test('a question that has ended before its turn sends no statement', () => {
  const { ask, statements } = createThread(() => {});
  assert.throws(() => ask({ ...question, ended: Int32Array.of(1) }), { name: 'QuestionEnded' });
  assert.equal(statements(), 0);
});

test('a signal raises the flag of a running question, and leaves no listener', async () => {
  const controller = new AbortController();
  const seen = await withSharedFlag(controller.signal, async (flag) => {
    const before = Atomics.load(flag, 0);
    controller.abort();
    return [before, Atomics.load(flag, 0)];
  });
  assert.deepEqual(seen, [0, 1]);
  assert.deepEqual(await withSharedFlag(controller.signal, async (flag) => flag[0]), 1);
});

test('a question with a filter checks the rows of the best candidates only', () => {
  const chunks = Array.from({ length: count }, (_, at) => ({
    ...{ seq: at + 1, length: 1, terms: new Map([['red', 1]]) },
    filterTerms: at % 100 === 0 ? [recordTerm('rare')] : [],
  }));
  const { header, pages } = buildSegment(chunks);
  let checked = 0;
  const answers = (sql: string, values: readonly unknown[]): unknown[] => {
    if (sql.includes('from full_text') || sql.includes('from record')) return [];
    if (sql.includes('select id')) return [{ id: 1 }];
    if (sql.includes('select header')) return [{ bytes: header }];
    if (sql.includes('from index_page')) return [{ bytes: pages[Number(values[0]) % 2 ** 22] }];
    return [];
  };
  const { ask } = createQuestions({
    all: <Row>(sql: string, ...values: readonly unknown[]) => answers(sql, values) as Row[],
    lists(_sql, ...values) {
      const seqs = JSON.parse(String(values[0])) as number[];
      checked += seqs.length;
      return seqs.slice(0, Number(values.at(-1))).map((seq) => [seq]);
    },
    run: () => assert.fail('a question writes nothing'),
  });
  const condition = { sql: '1', parameters: [] };
  const found = ask({ ...question, condition, filter: { type: 'eq', field: 'record_id', value: 'rare' } });
  const expected = [1, 101, 201, 301, 401];
  assert.deepEqual(found.kind === 'ranked' && found.chunks.map(({ seq }) => seq), expected);
  assert.equal(checked, 15);
});
