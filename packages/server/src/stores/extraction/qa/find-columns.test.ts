import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SheetColumns } from '@quartermaster/contract';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import type { SheetReport } from '../extraction.ts';
import { ExtractionError } from '../extraction-error.ts';
import { readCsv } from '../formats/csv/read-csv.ts';
import { readXlsx } from '../formats/xlsx/read-xlsx.ts';
import { acceptedNames } from './column-names.ts';
import { readPairs } from './pairs.ts';
import { createWarn, type Workbook } from './sheet.ts';

const silent = () => {};

function read(workbook: Workbook, columns?: SheetColumns) {
  const warnings: string[] = [];
  const sheets: SheetReport[] = [];
  const onSheet = (sheet: SheetReport) => void sheets.push(sheet);
  const options = { onDuplicate: 'keep', warn: createWarn(warnings), onSheet, columns: columns ?? null } as const;
  const items = [...readPairs(workbook, options)];
  const pairs = items.flatMap((item) => ('pair' in item ? [item.pair] : []));
  return { pairs, texts: pairs.map(({ question, answer }) => `${question}=${answer}`), sheets, warnings };
}

const csv = (text: string, columns?: SheetColumns) => read(readCsv(Buffer.from(text), { warn: silent }), columns);

function refusal(text: string, columns?: SheetColumns) {
  try {
    csv(text, columns);
  } catch (error) {
    assert.ok(error instanceof ExtractionError);
    assert.equal(error.code, 'columns_not_found');
    const [details] = error.details ?? [];
    assert.ok(details !== undefined);
    return { message: error.message, details, proposal: details.sheets[0] };
  }
  return assert.fail('The sheet was read.');
}

/** A sheet without a header, of rows that differ. */
function quiz(row: string): string {
  return Array.from({ length: 5 }, (_, index) => row.replaceAll(/(?<=^|;)/g, `${index} `)).join('\n');
}

// Headers of real sheets that are easily refused or imported as a pair.
for (const [header, question, answer] of [
  ['Question text,Response', 0, 1],
  ['ID,Question (EN),Answer (EN)', 1, 2],
  ['lang,question_1,answer_1', 1, 2],
  ['Customer question,Our answer', 0, 1],
  ['Fragetext;Antworttext', 0, 1],
  ['问题内容,回答内容', 0, 1],
  ['質問内容,回答内容', 0, 1],
  ['질문 내용,답변내용', 0, 1],
  ['user,assistant,score', 0, 1],
  ['Issue,Resolution', 0, 1],
  ['FAQ Question,FAQ Answer', 0, 1],
  ['customerQuestion,bestAnswer', 0, 1],
  ['Kundenfrage;Musterantwort;Fragetyp', 0, 1],
  ['Question ID,Question type,Question text,Answer text,Answer date', 2, 3],
  ['问题编号,问题类型,标准问题,标准答案', 2, 3],
  ['Answer in short,Question', 1, 0],
  ['Text der Frage;Text der Antwort', 0, 1],
  ['Câu hỏi thường gặp,Câu trả lời mẫu', 0, 1],
  ['Вопрос клиента,Ответ оператора', 0, 1],
  ['Question (ID),Answer (ID)', 0, 1],
  ['Anliegen;Auskunft', 0, 1],
  ['问题描述,解决方案', 0, 1],
  ['문의,답변', 0, 1],
  ['Суть обращения,Разъяснение', 0, 1],
  ['Запросы пассажиров,Скрипт ответа', 0, 1],
  ['Libellé de la demande,Réponse apportée', 0, 1],
  ['Întrebarea,Răspunsul', 0, 1],
  ['q_en,a_en', 0, 1],
] as const) {
  test(`the questions and answers below "${header}" are found`, () => {
    const width = header.split(/[,;]/).length;
    const cells = Array.from({ length: width }, (_, index) => `v${index}`);
    const { texts, sheets } = csv(`${header}\n${cells.join(header.includes(';') ? ';' : ',')}\n`);
    assert.deepEqual([texts, sheets[0]?.header], [[`v${question}=v${answer}`], 'found']);
  });
}

test('names that say little count above values that are questions, terms or problems', () => {
  const shown = [
    'user,assistant\nhi,hello\nbye,see you\nthanks,welcome\n',
    'user,description\nIs it open?,Yes\nWho is in?,Ada\nWhere?,There\n',
    'Query,Response\nIs it open?,yes\nIs it big?,no\nIs it in?,no\n',
    'Term,Meaning\nAPI,Application interface\nSLA,Service level\n5G,A network\n',
    'q,a\nIs it open?,Yes\nWho is in?,Ada\nWhere?,There\n',
    'Question,Answer,Grade,By\nWhich vitamin?,C,b,Ada\nWhich letter?,The first,c,Ada\n',
  ];
  for (const text of shown) assert.ok(csv(text).texts.length > 1, text);
});

test('of two columns of answers without a plain name, the longer one is taken, and a warning names the other', () => {
  const rows = 'Combien ?,Dix euros par mois.,10 €\nOù ?,"À Paris, rue X.",Paris\n';
  const { texts, warnings } = csv(`Intitulé de la question,Réponse type,Réponse courte\n${rows}`);
  assert.deepEqual(texts, ['Combien ?=Dix euros par mois.', 'Où ?=À Paris, rue X.']);
  assert.match(warnings.join(), /may contain questions or answers too, and became metadata: Réponse courte\./);
  assert.deepEqual(csv(`Question,Réponse,Réponse type\nCombien ?,10 €,Dix euros par mois.\n`).texts, [
    'Combien ?=10 €',
  ]);
});

for (const text of [
  'foo,bar\nx,y\n',
  'Name,Address\nAda,London\nAlan,Manchester\n',
  'Is it open?,Yes\nWhere?,There\n',
  'What is the question?,The answer is 42\nWhy?,Because\n',
  'Questionnaire,Answered by\nx,y\n',
  'Question ID,Answer count\n1,2\n',
  'Lorem,111\nipsum,222\n',
  'question,name\na,b\n',
  'size,colour,price\na,b,c\n',
  'a,b\n1,2\n',
  'Вопрос,Ответственный\nа,б\n',
  'q_id,a_id\nx,y\n',
  // Numbers and one repeated value are no answers and questions, whatever the names say.
  `text,replies,user\n${'It rains,107,Ada\n'.repeat(4)}`,
  'question_text,rank_of_answer\nIs it?,1\nWhere?,2\nWhen?,3\n',
  'input,output\n0x3f,0x4a\n0x40,0x4b\n0x41,0x4c\n',
  `a,q\n${'M,E\n'.repeat(4)}`,
  `pregunta,grupo\n${[1, 2, 3, 4, 5].map((at) => `¿Es ${at}?,Conexión del dispositivo\n`).join('')}`,
  // Names of people, parts by their sizes, and states.
  'user,description,email\nann,Head of sales,a@x\nbob,Intern,b@x\ncy,Head of IT,c@x\n',
  'human,description\nann,Head of sales\n',
  'Term,Definition,Qty\n12mm,steel,4\n14mm,brass,8\n16mm,steel,4\n18mm,steel,4\n',
  'Issue,Description\nAB-1,The lamp of the pump is off\nAB-2,It is loud\nAB-3,Water drips\n',
  'Time,Query,Status,Response\n10:00,SELECT 1,200,OK\n10:01,SELECT 2,500,ERR\n10:02,SELECT 3,200,OK\n',
  // The answer is one of several columns.
  'Question,A,B,C,Correct\nCapital of France?,Paris,Rome,Bonn,A\n2+2?,3,4,5,B\n',
  'Question,Option 1,Option 2,Answer\nCapital of France?,Paris,Rome,A\n2+2?,3,4,B\n',
  // Several columns may be the answer.
  quiz('Where is the stamp?;On the back of it;On the inside of it;In the drawer below'),
  // The answers are names.
  quiz('Who is in charge?;Ada'),
  quiz('Is this a question?;And is this another question, or is it an answer?'),
  quiz('The desk opens at nine;Come in the morning, please'),
]) {
  test(`nothing is imported from ${JSON.stringify(text)}, and the error says how to go on`, () => {
    const { message, details } = refusal(text);
    assert.match(
      message,
      /No row names both .* Found: "\S.* Send `columns`.*Accepted names are, for questions, question, /,
    );
    assert.deepEqual(details.accepted_names, acceptedNames);
  });
}

test('the error proposes the columns with five sample pairs, and the proposal can be sent as it is', () => {
  const rows = Array.from({ length: 8 }, (_, index) => `${index},short ${index},a longer text ${index}`);
  const text = ['No,Subject,Text', ...rows].join('\n');
  const { proposal, message } = refusal(text);
  assert.deepEqual(proposal?.columns, { question: 'Subject', answer: 'Text' });
  assert.deepEqual(proposal?.found, ['No', 'Subject', 'Text']);
  assert.equal(proposal?.samples.length, 5);
  assert.deepEqual(proposal?.samples[0], { row: 2, question: 'short 0', answer: 'a longer text 0' });
  assert.match(message, /Send `columns`, such as \{"question":"Subject","answer":"Text"\}/);
  assert.equal(csv(text, proposal?.columns ?? {}).texts.length, 8);
});

test('a sheet without a header is proposed by the numbers of its columns, questions by their marks', () => {
  const text = 'Yes. It opens at nine,Is it open?\nIn the hall,Where is it?\n';
  const { proposal } = refusal(text);
  assert.deepEqual([proposal?.columns, proposal?.header_row], [{ question: 2, answer: 1 }, null]);
  const { texts, sheets } = csv(text, proposal?.columns ?? {});
  assert.deepEqual(texts, ['Is it open?=Yes. It opens at nine', 'Where is it?=In the hall']);
  assert.equal(sheets[0]?.header, 'none');
});

for (const [header, kind] of [
  ['', 'none'],
  ['No;Topic;What people ask;What we say\n', 'found'],
  ['Nr;Bereich;Titel;Antwort\n', 'found'],
] as const) {
  test(`a column that asks beside one with long text is a sheet of pairs below "${header.trim()}"`, () => {
    const rows = ['Is it open', 'Where is it', 'Who can come in'].map((question) => `${question}?`);
    const text = rows.map((question, index) => `${index};desk;${question};Please come to the desk, number ${index}`);
    const { texts, sheets, warnings, pairs } = csv(header + text.join('\n'));
    assert.equal(texts[2], 'Who can come in?=Please come to the desk, number 2');
    assert.deepEqual([texts.length, sheets[0]?.header], [3, kind]);
    assert.match(
      warnings.join(),
      /By their values, C has the questions and D the answers\. Send `columns` to choose\./,
    );
    assert.equal(pairs[1]?.metadata[kind === 'none' ? 'column 2' : (header.split(';')[1] ?? '')], 'desk');
  });
}

test('long values in the samples of a proposal are cut', () => {
  const { proposal } = refusal(`foo,bar\n${'x'.repeat(5_000)},y\n`);
  assert.equal(proposal?.samples[0]?.question.length, 200);
});

test('columns are named in any case and width, by number, or one by the request and the other by its own name', () => {
  const text = 'No,Subject,Text,Extra\n7,s,t,e\n';
  assert.deepEqual(csv(text, { question: 'ＳＵＢＪＥＣＴ', answer: ' text ' }).texts, ['s=t']);
  assert.deepEqual(csv(text, { question: 'Subject', answer: 4 }).texts, ['s=e']);
  assert.deepEqual(csv('Subject,Answer\ns,a\n', { question: 'Subject' }).texts, ['s=a']);
  const { pairs } = csv(text, { question: 2, answer: 3, header_row: 1, tags: 'Extra' });
  assert.deepEqual(pairs[0]?.metadata, { No: '7', tags: 'e' });
});

test('columns that the request names win over accepted names', () => {
  const { pairs } = csv('question,answer,short\nq,a,s\n', { answer: 'short' });
  assert.deepEqual([pairs[0]?.answer, pairs[0]?.metadata], ['s', { answer: 'a' }]);
});

test('numbers without a header row make every row a pair, and with one the rows below it', () => {
  assert.deepEqual(csv('a,b\nc,d\n', { question: 1, answer: 2 }).texts, ['a=b', 'c=d']);
  assert.deepEqual(csv('a,b\nc,d\n', { question: 1, answer: 2, header_row: 0 }).texts, ['a=b', 'c=d']);
  assert.deepEqual(csv('a,b\nc,d\n', { question: 1, answer: 2, header_row: 1 }).texts, ['c=d']);
  const titled = `${'note,x\n'.repeat(14)}Subject,Text\ns,t\n`;
  assert.deepEqual(csv(titled, { question: 'Subject', answer: 'Text' }).texts, ['s=t']);
  assert.deepEqual(csv(titled, { question: 'Subject', answer: 'Text', header_row: 15 }).texts, ['s=t']);
});

test('a column that the sheet does not have is named by the error', () => {
  const { message } = refusal('foo,bar\nx,y\n', { question: 'Frage' });
  assert.match(message, /No sheet has the columns that the request names \(question "Frage"\)\. Found: "foo", "bar"\./);
  refusal('foo,bar\nx,y\n', { question: 'foo', answer: 9 });
  refusal('foo,bar\nx,y\n', { question: 'foo', answer: 'bar', header_row: 2 });
  refusal('foo,bar\nx,y\n', { question: 'foo', answer: 'bar', header_row: 0 });
});

test('the id that the request names identifies a row across uploads', () => {
  const keys = (text: string) => csv(text, { id: 'Nr' }).pairs.map(({ rowKey }) => rowKey);
  assert.deepEqual(keys('Nr,question,answer\n7,old,a\n'), keys('Nr,question,answer\n7,new,b\n'));
});

test('columns apply to every sheet of a workbook that has them, and the others are reported', async () => {
  const rows = (...names: string[]) => [names, ['x', 'y']];
  const file = workbook([
    { name: 'Notes', rows: rows('by', 'on') },
    { name: 'One', rows: rows('Subject', 'Text') },
    { name: 'Two', rows: rows('Text', 'Subject') },
  ]);
  const { texts, sheets } = read(await readXlsx(file), { question: 'Subject', answer: 'Text' });
  assert.deepEqual(texts, ['x=y', 'y=x']);
  assert.deepEqual(sheets.map(({ header }) => header).join(), 'missing,found,found');
});

test('further columns with longer names of questions or answers are reported', () => {
  const { texts, warnings } = csv('Question (EN),Question (DE),Answer (EN),Answer (DE)\nq,f,a,b\n');
  assert.deepEqual(texts, ['q=a']);
  assert.match(warnings.join(), /Question \(DE\), Answer \(DE\).*Send `columns` to choose/);
  assert.deepEqual(csv('question,answer,answer_start\nq,a,1\n').warnings, []);
});
