import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arabicPdf, drawnPdf, encryptedPdf, pdfWithBookmarks } from '../../../../../../../test/support/sample-pdf.ts';
import { layOut } from '../../document.ts';
import { type Placed, pdfOf } from '../testing/documents.fixture.ts';
import { readPdf } from './read-pdf.ts';

/** Returns lines below each other, starting at a height. */
function lines(x: number, from: number, texts: readonly string[]): Placed[] {
  return texts.map((text, index) => ({ x, y: from - index * 14, text }));
}

async function textOf(bytes: Uint8Array): Promise<string> {
  return layOut(await readPdf(bytes)).text;
}

const prose = (name: string) =>
  Array.from({ length: 6 }, (_, index) => `${name} ${index} holds the words that a line of prose has`);

test('the lines of a paragraph form one text, a wider gap begins another, and each has its page', async () => {
  const { blocks, facts } = await readPdf(
    pdfOf([
      [...lines(50, 700, ['One line', 'and the next.']), ...lines(50, 640, ['Another.'])],
      lines(50, 700, ['Last.']),
    ]),
  );
  assert.deepEqual(
    blocks.map(({ kind, text, page }) => [kind, text, page]),
    [
      ['paragraph', 'One line and the next.', 1],
      ['paragraph', 'Another.', 1],
      ['paragraph', 'Last.', 2],
    ],
  );
  assert.equal(facts.pages, 2);
});

test('a line of many thousand characters is read completely, and separately from the next one', async () => {
  const long = Array.from({ length: 1500 }, (_, n) => `word${n}`).join(' ');
  const read = await textOf(pdfOf([lines(10, 700, [long, 'and a short one.'])]));
  assert.equal(read.replace(/\s+/g, ' '), `${long} and a short one.`);
});

test('lines that were drawn in another order are read from the top, unless some stand side by side', async () => {
  const drawn = lines(50, 700, prose('Line'));
  const inOrder = await textOf(pdfOf([drawn]));
  const shuffled = [3, 0, 5, 1, 4, 2].flatMap((index) => drawn[index] ?? []);
  for (const page of [drawn.toReversed(), shuffled]) assert.equal(await textOf(pdfOf([page])), inOrder);
  const station = [
    { x: 72, y: 760, text: 'Water level' },
    { x: 300, y: 660, text: '12' },
    { x: 72, y: 700, text: 'Station 0 reading below' },
  ];
  assert.equal(await textOf(pdfOf([station])), 'Water level\n\nStation 0 reading below\n\n12');
  const [left, right] = [lines(40, 700, prose('Left')), lines(320, 697, prose('Right'))];
  const text = await textOf(pdfOf([[...right, ...left]]));
  assert.ok(text.indexOf('Right 5') < text.indexOf('Left 0'), text);
});

test('columns that were written row by row are read one after another', async () => {
  const [left, right] = [lines(40, 700, prose('Left')), lines(320, 700, prose('Right'))];
  const across = left.flatMap((line, index) => [line, ...(right[index] === undefined ? [] : [right[index]])]);
  const text = await textOf(pdfOf([across.map((line) => ({ ...line, size: 10 }))]));
  assert.ok(text.indexOf('Left 5') < text.indexOf('Right 0'), text);
});

test('the mark of a note is not part of the adjacent words', async () => {
  const page = [
    { x: 50, y: 700, text: 'Run make' },
    { x: 97, y: 704, text: '12', size: 7 },
    { x: 50, y: 200, text: '12', size: 6 },
    { x: 57, y: 198, text: 'Or any other tool.', size: 9 },
  ];
  assert.equal(await textOf(pdfOf([page])), 'Run make 12\n\n12 Or any other tool.');
});

test('a hyphenated word continues in the next line, however the lines are set', async () => {
  const page = [
    { x: 50, y: 700, text: 'The packages that hold the whole of the docu-' },
    { x: 50, y: 686, text: 'mentation and much more', font: 'Helvetica-Bold' },
    { x: 50, y: 672, text: 'of what was asked for.' },
  ] as const;
  assert.match(await textOf(pdfOf([page])), /of the documentation and much more/);
});

test('aligned cells form a table, and a cell may have several lines', async () => {
  const row = (y: number, cells: readonly string[]) => cells.map((text, index) => ({ x: 50 + index * 150, y, text }));
  const page = [
    ...row(700, ['Name', 'Use', 'Price']),
    ...row(684, ['bolt', 'to hold two', '1.20']),
    { x: 200, y: 671, text: 'things together' },
    ...row(655, ['nut', 'to hold a bolt', '0.30']),
  ];
  const { blocks } = await readPdf(pdfOf([page]));
  assert.deepEqual(
    blocks.map(({ kind, text }) => [kind, text]),
    [['table', 'Name | Use | Price\nbolt | to hold two things together | 1.20\nnut | to hold a bolt | 0.30']],
  );
});

test('a hyphen at a line break is removed, and one that belongs to the word stays', async () => {
  const page = lines(50, 700, ['The publication is a well-known one; the publi-', 'cation of a well-', 'known house.']);
  assert.equal(
    await textOf(pdfOf([page])),
    'The publication is a well-known one; the publication of a well-known house.',
  );
});

test('a hyphen at a line break before a capital or a digit, behind a digit or a single letter stays', async () => {
  const cases = [
    ['Order model ABC-', '1234 today.', 'Order model ABC-1234 today.'],
    ['a non-', 'NATO state', 'a non-NATO state'],
    ['by Anne-', 'Marie Smith', 'by Anne-Marie Smith'],
    ['an X-', 'ray and a 3-', 'phase motor', 'an X-ray and a 3-phase motor'],
    ['an INTER-', 'NATIONAL rule', 'an INTERNATIONAL rule'],
    ['JavaScript is a name of Java-', 'Script', 'JavaScript is a name of JavaScript'],
    ['an inter-', 'national rule', 'an international rule'],
  ];
  for (const each of cases) {
    const expected = each.at(-1);
    assert.equal(await textOf(pdfOf([lines(50, 700, each.slice(0, -1))])), expected);
  }
});

test('a number that stands above the line behind a number is a power', async () => {
  const shown = async (content: string) => textOf(drawnPdf(`BT /F1 12 Tf 72 700 Td ${content} ET`));
  const raised = (text: string, size = 7) => `/F1 ${size} Tf 5 Ts (${text}) Tj 0 Ts /F1 12 Tf`;
  assert.equal(await shown(`(Dose 10) Tj ${raised('6')} ( units) Tj`), 'Dose 10^6 units');
  assert.equal(await shown(`(Dose 10) Tj ${raised('-12', 12)} ( g) Tj`), 'Dose 10^-12 g');
  assert.equal(await shown(`(of \\(a+b\\)) Tj ${raised('2')}`), 'of (a+b)^2');
  assert.equal(await shown(`(CO) Tj /F1 7 Tf -3 Ts (2) Tj 0 Ts /F1 12 Tf ( and 10) Tj /F1 7 Tf (6) Tj`), 'CO2 and 106');
});

test('larger and bold lines are headings, and monospaced text is code', async () => {
  const { blocks } = await readPdf(
    pdfOf([
      [
        { x: 50, y: 740, text: 'The Title', size: 20 },
        { x: 50, y: 700, text: 'A section', font: 'Helvetica-Bold' },
        ...lines(50, 670, prose('Text')),
        { x: 50, y: 560, text: 'if (a) {', font: 'Courier' },
        { x: 63.2, y: 546, text: 'go();', font: 'Courier' },
      ],
    ]),
  );
  assert.deepEqual(
    blocks.map(({ kind, level }) => [kind, level]),
    [
      ['heading', 1],
      ['heading', 2],
      ['paragraph', undefined],
      ['code', undefined],
    ],
  );
  assert.equal(blocks[3]?.text, 'if (a) {\n  go();');
});

test('a sentence continues over the end of a page, and the footnote of that page follows it', async () => {
  const first = [
    ...lines(50, 700, [...prose('Text'), 'this sentence is']),
    { x: 50, y: 120, size: 8, text: '1 A note.' },
  ];
  const document = await readPdf(pdfOf([first, lines(50, 700, ['not over yet.', ...prose('More')])]));
  const { text, locate } = layOut(document);
  assert.match(text, /this sentence is not over yet\..*\n\n1 A note\.$/s);
  assert.deepEqual(locate(0, text.length).page, 1);
  assert.deepEqual(locate(0, text.indexOf('over yet')).page_end, 2);
});

test('Arabic is in reading order, with its letters', async () => {
  assert.equal(await textOf(arabicPdf('حبيبي كتاب جديد')), 'حبيبي كتاب جديد');
});

test('pages without text are counted and named', async () => {
  const text = lines(50, 700, ['Text.']);
  const { facts, warnings } = await readPdf(pdfOf([text, [], [], text, [], text]));
  assert.equal(facts.pages_without_text, 3);
  assert.deepEqual(warnings, [
    'no_text_layer: These pages contain no text; they are empty or contain only images: 2-3, 5.',
  ]);
});

test('the bookmarks of a document determine its headings', async () => {
  const { blocks } = await readPdf(pdfWithBookmarks());
  const found = blocks.find((block) => block.text === 'V2.3 Checks of Amounts');
  assert.deepEqual([found?.kind, found?.level], ['heading', 2]);
});

test('a document encrypted with an empty password opens', async () => {
  assert.equal(await textOf(encryptedPdf('')), 'Hello from behind a password');
});

test('a stamp that is turned beside the text is no heading, however large it is', async () => {
  const stamp = 'BT /F1 20 Tf 0 1 -1 0 30 300 Tm (arXiv:2004.04906v3 [cs.CL] 30 Sep 2020) Tj ET';
  const heading = 'BT /F1 16 Tf 60 700 Td (Introduction) Tj ET';
  const body = prose('line').map((text, at) => `BT /F1 11 Tf 60 ${660 - at * 14} Td (${text}) Tj ET`);
  const document = await readPdf(drawnPdf([stamp, heading, ...body].join('\n')));
  const { text, blocks, locate } = layOut(document);
  assert.ok(text.includes('arXiv:2004.04906v3'), text);
  assert.deepEqual(
    blocks.filter(({ kind }) => kind === 'heading').map(({ start, end }) => text.slice(start, end)),
    ['Introduction'],
  );
  assert.deepEqual(locate(text.indexOf('line 3'), text.length).heading_path, ['Introduction']);
});
