import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SheetColumns } from '@quartermaster/contract';
import fc from 'fast-check';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import { csvOf, pairsIn, quotedLine } from '../../../../../../test/support/sample-texts.ts';
import { type OnDuplicate, rowCodes, type SheetReport } from '../extraction.ts';
import { readCsv } from '../formats/csv/read-csv.ts';
import { readXlsx } from '../formats/xlsx/read-xlsx.ts';
import { readPairs } from './pairs.ts';
import { createWarn, type Workbook } from './sheet.ts';

const silent = () => {};

function pairsOf(workbook: Workbook, onDuplicate: OnDuplicate = 'keep', columns: SheetColumns | null = null) {
  const warnings: string[] = [];
  const sheets: SheetReport[] = [];
  const options = {
    onDuplicate,
    columns,
    warn: createWarn(warnings),
    onSheet: (sheet: SheetReport) => void sheets.push(sheet),
  };
  const read = [...readPairs(workbook, options)];
  return {
    pairs: read.flatMap((item) => ('pair' in item ? [item.pair] : [])),
    reported: read.flatMap((item) => ('reported' in item ? [item.reported] : [])),
    sheets,
    warnings,
  };
}

function fromCsv(text: string, onDuplicate?: OnDuplicate) {
  return pairsOf(readCsv(Buffer.from(text), { warn: silent }), onDuplicate);
}

for (const language of ['en', 'ar', 'zh'] as const) {
  test(`every pair of a sheet in ${language} is read unchanged, from CSV and from Excel`, async () => {
    const expected = pairsIn(language);
    const sheet = { name: 'pairs', rows: [['question', 'answer'], ...expected] };
    for (const read of [readCsv(Buffer.from(csvOf(expected)), { warn: silent }), await readXlsx(workbook([sheet]))]) {
      const { pairs, reported } = pairsOf(read);
      assert.deepEqual(reported, []);
      assert.deepEqual(
        pairs.map(({ question, answer }) => [question, answer]),
        expected,
      );
    }
  });
}

test('a sheet without pairs is refused and the refusal names its columns', async () => {
  const rows = [
    ['id', 'price', 'stock'],
    ['1', '2.50', '7'],
  ];
  const book = await readXlsx(workbook([{ name: 'stock', rows }]));
  for (const read of [() => fromCsv(rows.map((cells) => cells.join(',')).join('\n')), () => pairsOf(book)]) {
    assert.throws(read, { code: 'columns_not_found', message: /Found: .*"id", "price", "stock"/ });
  }
});

test('the columns are found by name in any order, case and width; the others become metadata', () => {
  const { pairs } = fromCsv('ID, ＡＮＳＷＥＲ ,topic,Ques tion,Meta.Source,タグ\n7,"a, ""b""",,q,book,x y\n');
  assert.deepEqual(
    pairs.map(({ rowKey, ...pair }) => pair),
    [
      {
        ...{ sheet: null, row: 2, cells: ['D2', 'B2'], question: 'q', answer: 'a, "b"' },
        metadata: { ID: '7', Source: 'book', tags: 'x y' },
      },
    ],
  );
});

for (const [question, answer] of [
  ['问题', '答案'],
  ['問題', '回答'],
  ['質問', '答え'],
  ['질문', '답변'],
  ['Pregunta', 'Respuesta'],
  ['FRAGE', 'Antwort'],
  ['Question :', 'Réponse :'],
  ['Вопрос', 'Ответ'],
  ['سؤال', 'جواب'],
  ['שאלה', 'תשובה'],
  ['प्रश्न', 'उत्तर'],
  ['คำถาม', 'คำตอบ'],
  ['Câu hỏi', 'Câu trả lời'],
  ['Q', 'A'],
  ['term', 'definition'],
]) {
  test(`the header ${question} and ${answer} is recognised`, () => {
    const { pairs, sheets } = fromCsv(`no,${question},${answer},note\n1,x,y,\n`);
    assert.deepEqual([pairs[0]?.question, pairs[0]?.answer, sheets[0]?.header], ['x', 'y', 'found']);
  });
}

test('columns named like members of every object become metadata', () => {
  const { pairs } = fromCsv('question,answer,__proto__,constructor\nq,a,one,two\nr,b,,\n');
  assert.deepEqual(
    pairs.map(({ metadata }) => Object.entries(metadata)),
    [
      [
        ['__proto__', 'one'],
        ['constructor', 'two'],
      ],
      [],
    ],
  );
});

test('a title may precede the header', () => {
  const { pairs, sheets } = fromCsv('Our questions,,\n,,\nas of May,,\nquestion,answer,by\nq,a,x\n');
  assert.deepEqual([pairs.length, sheets[0]?.header_row, sheets[0]?.rows], [1, 4, 1]);
});

test('every row with a value is accepted or reported with its position', () => {
  const { pairs, reported } = fromCsv('question,answer\n"two\nlines",a\n\n,lost\nlost, \nq2,a2');
  assert.deepEqual(
    pairs.map(({ row, question }) => [row, question]),
    [
      [2, 'two\nlines'],
      [7, 'q2'],
    ],
  );
  const common = { sheet: null, excerpt: 'lost' };
  assert.deepEqual(reported, [
    { ...common, row: 5, column: 'A', code: 'empty_question', fields: { question: '', answer: 'lost', metadata: {} } },
    { ...common, row: 6, column: 'B', code: 'empty_answer', fields: { question: 'lost', answer: '', metadata: {} } },
  ]);
});

test('a pair longer than a chunk may be is reported completely', () => {
  const { reported } = fromCsv(`question,answer\nq,${'a'.repeat(65_535)}\n`);
  assert.equal(reported[0]?.code, 'too_long');
  assert.equal(reported[0]?.excerpt.length, 200);
  assert.equal(reported[0]?.fields.answer.length, 65_535);
});

test('a CSV row with more cells than the header is reported: its answer lost its quotes', () => {
  const { reported, pairs } = fromCsv('question,answer\nWho?,Tom, Dick, Harry\nWhy?,Because\n');
  assert.deepEqual([pairs.length, reported[0]?.code, reported[0]?.column], [1, 'extra_columns', 'C']);
  assert.deepEqual(reported[0]?.fields.metadata, { 'qm:extra': 'Dick | Harry' });
});

test('metadata is limited to 16 entries and values of 512 characters, and omissions are reported', () => {
  const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const long = names.map(() => 'v'.repeat(600)).join(',');
  const { pairs, warnings } = fromCsv(`question,answer,${names.join(',')}\nq,a,${long}\n`);
  assert.equal(Object.keys(pairs[0]?.metadata ?? {}).length, 16);
  assert.equal(pairs[0]?.metadata.c0?.length, 512);
  assert.match(warnings.join(' '), /c16, c17, c18, c19.*512/s);
});

test('among equal rows the first is used with skip, the last with replace, and all with keep', () => {
  const text = 'question,answer\nＷho?,1\n who?  ,2\nWHO?,3\nother,4\n,5\n';
  const outcome = (policy: OnDuplicate) => {
    const { pairs, reported } = fromCsv(text, policy);
    return [pairs.map(({ answer }) => answer).join(), reported.map(({ row, code }) => `${row} ${code}`).join()];
  };
  assert.deepEqual(outcome('keep'), ['1,2,3,4', '6 empty_question']);
  assert.deepEqual(outcome('skip'), ['1,4', '3 duplicate_in_file,4 duplicate_in_file,6 empty_question']);
  assert.deepEqual(outcome('replace'), ['3,4', '2 duplicate_in_file,3 duplicate_in_file,6 empty_question']);
});

test('a row with an id is identified by it, whatever its question', () => {
  const keyed = (text: string) => fromCsv(text).pairs.map(({ rowKey }) => rowKey);
  const [first, second] = keyed('id,question,answer\n7,old,a\n,old,a\n');
  const [again] = keyed('id,question,answer\n7,new,b\n');
  assert.equal(first, again);
  assert.notEqual(first, second);
  assert.equal(second, keyed('question,answer\nOLD,x\n')[0]);
});

test('the accepted and reported rows are all rows of the sheet, whatever the policy', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', ' ', '"', "'", 'a\nb', ',', ';', '\\', 'x'),
  );
  const rows = fc.array(fc.tuple(cell, cell));
  fc.assert(
    fc.property(rows, fc.constantFrom('keep', 'skip', 'replace'), (rowList, policy) => {
      const text = [['question', 'answer'], ...rowList].map(quotedLine).join('\n');
      const { pairs, reported } = fromCsv(text, policy);
      const clean = rowList.map((row) => row.map((value) => value.replace(/\r\n?/g, '\n').replaceAll('\0', '').trim()));
      const filled = clean.filter((row) => row.some((value) => value !== ''));
      assert.equal(pairs.length + reported.length, filled.length);
      const rejected = reported.filter(({ code }) => rowCodes[code].status === 'rejected');
      const whole = clean.filter(([question, answer]) => question !== '' && answer !== '');
      assert.equal(rejected.length, filled.length - whole.length);
      if (policy !== 'keep') assert.equal(new Set(pairs.map(({ rowKey }) => rowKey)).size, pairs.length);
      else {
        assert.deepEqual(
          pairs.map(({ question, answer }) => [question, answer]),
          whole,
        );
      }
    }),
  );
});

test('the sheets of a workbook with a header are read, and the others are reported', () => {
  const sheet = (name: string, ...cells: string[][]) => ({
    name,
    hidden: false,
    rows: cells.map((row, index) => ({ row: index + 1, cells: row })),
  });
  const workbook = {
    sheets: [sheet('Notes', ['x', 'y', 'z']), sheet('QA', ['Answer', 'Question'], ['a', 'q'])],
    facts: {},
  };
  const { pairs, sheets } = pairsOf(workbook);
  assert.deepEqual([pairs.length, pairs[0]?.sheet, pairs[0]?.question], [1, 'QA', 'q']);
  assert.deepEqual(sheets, [
    { name: 'Notes', header: 'missing', columns: ['x', 'y', 'z'], rows: 0 },
    { name: 'QA', header: 'found', header_row: 1, columns: ['Answer', 'Question'], rows: 1 },
  ]);
});

test('hidden sheets and rows are left out with a warning, for each policy of duplicates, or read on request', () => {
  const remedy = 'Send "include_hidden": true in `columns` to read them.';
  const rows = (name: string) => [
    { row: 1, cells: ['question', 'answer'] },
    { row: 2, cells: [`${name} 1`, 'a'] },
    { row: 3, cells: [`${name} 1`, 'draft'], hidden: true },
    { row: 4, cells: ['', 'rejected'], hidden: true },
  ];
  const sheets = ['Shown', 'Secret'].map((name) => ({ name, hidden: name === 'Secret', rows: rows(name) }));
  for (const policy of ['keep', 'skip', 'replace'] as const) {
    const read = pairsOf({ sheets, facts: {} }, policy);
    assert.deepEqual(
      read.pairs.map(({ question, answer }) => [question, answer]),
      [['Shown 1', 'a']],
    );
    assert.deepEqual(read.reported, []);
    assert.deepEqual(read.sheets, [
      { name: 'Shown', header: 'found', header_row: 1, columns: ['question', 'answer'], rows: 1, hidden_rows: 2 },
    ]);
    assert.deepEqual(read.warnings, [
      `hidden_sheets: These sheets are hidden and were not read: "Secret". ${remedy}`,
      `hidden_rows: 2 rows of the sheet "Shown" are hidden and were not read. ${remedy}`,
    ]);
  }
  const all = pairsOf({ sheets, facts: {} }, 'keep', { include_hidden: true });
  assert.deepEqual(
    all.pairs.map(({ question }) => question),
    ['Shown 1', 'Shown 1', 'Secret 1', 'Secret 1'],
  );
  assert.deepEqual(all.warnings, []);
});

test('a formula error is neither a question nor an answer; elsewhere it is a value', () => {
  const rows = [
    { row: 1, cells: ['question', 'answer', 'price'] },
    { row: 2, cells: ['q', '#N/A', '1'], errors: [1] },
    { row: 3, cells: ['q', 'a', '#REF!'], errors: [2] },
  ];
  const { pairs, reported } = pairsOf({ sheets: [{ name: 'S', hidden: false, rows }], facts: {} });
  assert.deepEqual([reported[0]?.code, reported[0]?.column], ['bad_cell', 'B']);
  assert.deepEqual(pairs[0]?.metadata, { price: '#REF!' });
});

test('a returned report of refused rows gives the original rows', () => {
  const { pairs } = fromCsv("question,answer,qm:row,qm:code\n'=1+1,''-5,7,empty_answer\n");
  assert.deepEqual(pairs[0] && [pairs[0].question, pairs[0].answer, pairs[0].metadata], ['=1+1', "'-5", {}]);
});
