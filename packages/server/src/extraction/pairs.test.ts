import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import papaparse from 'papaparse';
import { corpusFile } from './corpus.fixture.ts';
import { type PairOrRejection, readPairs } from './pairs.ts';
import { readCsv } from './read-csv.ts';
import { readXlsx } from './read-xlsx.ts';
import type { Workbook } from './sheet.ts';

function pairsOf(workbook: Workbook) {
  const read: PairOrRejection[] = [...readPairs(workbook, [])];
  return {
    pairs: read.flatMap((item) => ('pair' in item ? [item.pair] : [])),
    rejected: read.flatMap((item) => ('rejected' in item ? [item.rejected] : [])),
  };
}

function fromCsv(text: string) {
  return pairsOf(readCsv(Buffer.from(text)));
}

for (const name of ['xquad.en.csv', 'xquad.ar.utf8bom.csv', 'xquad.es.cp1252.semicolon.csv', 'xquad.zh.xlsx']) {
  test(`every pair of ${name} is read as it is`, async () => {
    const bytes = corpusFile(`qa/${name}`);
    const { pairs, rejected } = pairsOf(name.endsWith('xlsx') ? await readXlsx(bytes) : readCsv(bytes));
    const truth = corpusFile(`gt/qa/${name}.jsonl`)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(rejected, []);
    assert.deepEqual(
      pairs.map(({ question, answer }) => ({ question, answer })),
      truth.map(({ question, answer }) => ({ question: question.trim(), answer: String(answer).trim() })),
    );
  });
}

test('the columns are found by name in any order, case and width; the others become metadata', () => {
  const { pairs } = fromCsv('ID, ＡＮＳＷＥＲ ,topic,Ques tion\n7,"a, ""b""",,q\n');
  assert.deepEqual(pairs, [{ sheet: null, row: 2, question: 'q', answer: 'a, "b"', metadata: { ID: '7' } }]);
});

test('every row with a value is kept or rejected, and says where it stood', () => {
  const { pairs, rejected } = fromCsv('question,answer\n"two\nlines",a\n\n,lost\nlost, \nq2,a2');
  assert.deepEqual(
    pairs.map(({ row, question }) => [row, question]),
    [
      [2, 'two\nlines'],
      [7, 'q2'],
    ],
  );
  assert.deepEqual(rejected, [
    { sheet: null, row: 5, code: 'empty_question', excerpt: 'lost' },
    { sheet: null, row: 6, code: 'empty_answer', excerpt: 'lost' },
  ]);
});

test('a pair longer than a chunk may be is rejected', () => {
  const { rejected } = fromCsv(`question,answer\nq,${'a'.repeat(65_535)}\n`);
  assert.equal(rejected[0]?.code, 'too_long');
  assert.equal(rejected[0]?.excerpt.length, 200);
});

test('metadata is bounded: 16 entries, values of 512 characters', () => {
  const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const { pairs } = fromCsv(`question,answer,${names.join(',')}\nq,a,${names.map(() => 'v'.repeat(600)).join(',')}\n`);
  assert.equal(Object.keys(pairs[0]?.metadata ?? {}).length, 16);
  assert.equal(pairs[0]?.metadata.c0?.length, 512);
});

for (const delimiter of [',', ';', '\t', '|']) {
  test(`a sheet with ${JSON.stringify(delimiter)} between its cells is read`, () => {
    const { pairs } = fromCsv(
      ['question', 'answer'].join(delimiter).concat('\n', ['a, b; c', 'd'].map((cell) => `"${cell}"`).join(delimiter)),
    );
    assert.equal(pairs[0]?.question, 'a, b; c');
  });
}

test('a first line sep= sets the delimiter, and is counted as a line', () => {
  const { pairs } = fromCsv('sep=#\nquestion#answer\nq#a\n');
  assert.deepEqual([pairs[0]?.answer, pairs[0]?.row], ['a', 3]);
});

test('kept and rejected rows are the rows that were written', () => {
  const cell = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', '"', 'a\nb', ',', ';'));
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell)), (rows) => {
      const { pairs, rejected } = fromCsv(papaparse.unparse([['question', 'answer'], ...rows], { newline: '\n' }));
      const clean = rows.map((row) => row.map((value) => value.replace(/\r\n?/g, '\n').replaceAll('\0', '').trim()));
      const whole = clean.filter(([question, answer]) => question !== '' && answer !== '');
      assert.deepEqual(
        pairs.map(({ question, answer }) => [question, answer]),
        whole,
      );
      assert.equal(pairs.length + rejected.length, clean.filter((row) => row.some((value) => value !== '')).length);
    }),
  );
});

test('a sheet without the two names is refused', () => {
  assert.throws(() => fromCsv('term,definition\na,b\n'), { code: 'header_missing' });
  assert.throws(() => fromCsv('question,reply\na,b\n'), { code: 'header_missing' });
  assert.throws(() => fromCsv('\n\n'), { code: 'header_missing' });
});

test('of a workbook the sheets with a header are read, and the others named', () => {
  const sheet = (name: string, ...cells: string[][]) => ({
    name,
    rows: cells.map((row, index) => ({ row: index + 1, cells: row })),
  });
  const workbook = {
    sheets: [sheet('Notes', ['x']), sheet('QA', ['Answer', 'Question'], ['a', 'q'])],
    facts: {},
    warnings: [],
  };
  const warnings: string[] = [];
  assert.deepEqual(
    [...readPairs(workbook, warnings)],
    [{ pair: { sheet: 'QA', row: 2, question: 'q', answer: 'a', metadata: {} } }],
  );
  assert.match(warnings[0] ?? '', /"Notes" was not read/);
});
