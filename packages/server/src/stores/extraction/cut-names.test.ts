import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TextSplitter } from '@quartermaster/contract';
import { openDocument, workbook } from '../../../../../test/support/sample-office.ts';
import { boundReport, reportLimits } from './bound-report.ts';
import { checkBatch } from './chunking/chunk-batch.ts';
import { cutName, placeLimits } from './cut-text.ts';
import { layOut } from './document.ts';
import type { ExtractionReport } from './extraction.ts';
import type { ReportDraft } from './extraction-job.ts';
import { file, never, open, taskOf } from './worker/testing/extractor.fixture.ts';

const extractor = open();
after(() => extractor.close());

/** Reads a document and returns its report and what its chunks store besides their content. */
async function read(extension: 'md' | 'xlsx' | 'ods' | 'eml', bytes: Uint8Array, kind: 'text' | 'qa' = 'text') {
  const splitter: TextSplitter = { type: 'separator', separators: ['\n'], chunk_size: 60, chunk_overlap: 0 };
  const { task, chunks, rows } = taskOf(file(extension, bytes), kind === 'qa' ? { kind } : { splitter });
  const outcome = await extractor.extract(task, never);
  assert.ok(outcome.kind === 'extracted', JSON.stringify(outcome).slice(0, 1_000));
  const places = chunks.map(({ locator }) => JSON.stringify(locator).length);
  return { report: outcome.report, chunks, rows, longestPlace: Math.max(...places) };
}

const isAboutNames = (warning: string) => warning.startsWith('names_cut: ');

test('the limit place_name_characters keeps a heading of 500 characters and cuts a longer one with a warning', () => {
  const exact = '😀'.repeat(placeLimits.name / 2);
  assert.equal(cutName(exact), exact);
  for (const [long, expected] of [
    [`${exact}x`, `${'😀'.repeat(249)}…`],
    [`x${exact}`, `x${'😀'.repeat(249)}…`],
  ] as const) {
    const heading = { kind: 'heading', level: 1, text: long } as const;
    const { locate, text, warnings } = layOut({ blocks: [heading], facts: {}, warnings: [] });
    assert.deepEqual(locate(0, 5).heading_path, [expected]);
    assert.equal(text, long);
    assert.equal(warnings.filter(isAboutNames).length, 1);
  }
  assert.deepEqual(layOut({ blocks: [{ kind: 'heading', text: exact }], facts: {}, warnings: [] }).warnings, []);
});

test('the limit heading_path_characters keeps headings of 1,000 characters together and cuts longer ones to equal shares', () => {
  const lay = (lengths: readonly number[]) =>
    layOut({
      blocks: lengths.map(
        (length, at) => ({ kind: 'heading', level: at + 1, text: String(at).repeat(length) }) as const,
      ),
      facts: {},
      warnings: [],
    });
  const kept = lay([500, 400, 100]);
  assert.deepEqual(
    kept.locate(1_010, 1_010).heading_path?.map(({ length }) => length),
    [500, 400, 100],
  );
  assert.deepEqual(kept.warnings, []);
  const cutAll = lay([500, 400, 101]);
  assert.deepEqual(
    cutAll.locate(1_010, 1_010).heading_path?.map(({ length }) => length),
    [333, 333, 101],
  );
  assert.deepEqual(
    cutAll.locate(0, 0).heading_path?.map(({ length }) => length),
    [500],
  );
  assert.match(cutAll.warnings.join(), /^names_cut: 2 headings/);
  const deepest = lay(Array(10).fill(500)).locate(6_000, 6_000).heading_path ?? [];
  assert.deepEqual([deepest.length, deepest.join('').length], [10, 1_000]);
});

test('a heading of 400,000 characters is stored once, and the locator of each chunk has its beginning', async () => {
  const text = `# ${'W'.repeat(400_000)}\n\n${'some ordinary words here\n\n'.repeat(300)}`;
  const { report, chunks, longestPlace } = await read('md', Buffer.from(text));
  assert.ok(chunks.length > 50);
  assert.ok(longestPlace < 700, String(longestPlace));
  assert.equal(chunks.at(-1)?.locator?.heading_path?.[0]?.length, placeLimits.name);
  assert.ok((chunks.at(-1)?.words.length ?? 0) < 2_000);
  assert.equal(report.warnings.filter(isAboutNames).length, 1);
});

test('the name of a sheet of a million letters is cut in workbooks and OpenDocument spreadsheets, as text and as pairs', async () => {
  const name = 'n'.repeat(1_000_000);
  const rows = [['question', 'answer'], ...Array.from({ length: 20 }, (_, at) => [`What is ${at}?`, `It is ${at}.`])];
  const cells = rows.map((row) =>
    row.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join(''),
  );
  const table = cells.map((row) => `<table:table-row>${row}</table:table-row>`).join('');
  const ods = openDocument('ods', `<table:table table:name="${name}">${table}</table:table>`);
  const rejected = workbook([{ name, rows: [...rows, ['no answer', '']] }]);
  for (const found of [await read('xlsx', rejected), await read('ods', ods), await read('xlsx', rejected, 'qa')]) {
    assert.ok(found.longestPlace < 1_500, String(found.longestPlace));
    assert.equal(found.chunks[0]?.locator?.sheet, cutName(name));
    assert.ok(found.report.warnings.some(isAboutNames));
    assert.ok(JSON.stringify(found.report).length < 5_000);
    for (const { sheet } of found.rows) assert.equal(sheet, cutName(name));
  }
});

test('a batch with a longer name, more headings or an unknown place is refused', () => {
  const chunk = (locator: unknown) => [
    { ordinal: 0, content: 'a', question: null, answer: null, numTokens: 1, words: 'a', metadata: {}, locator },
  ];
  const longest = 'x'.repeat(placeLimits.name);
  const most = Array.from({ length: placeLimits.headings }, () => longest.slice(0, placeLimits.headingPath / 10));
  assert.equal(checkBatch(chunk({ sheet: longest, heading_path: most, cells: ['A1', 'B1'] })).length, 1);
  for (const locator of [
    { sheet: `${longest}x` },
    { heading_path: [`${longest}x`] },
    { heading_path: [...most, 'x'] },
    { heading_path: [...most.slice(1), `${most[0]}x`] },
    { cells: ['A1', 'B1', 'C1'] },
    { cells: ['A'.repeat(placeLimits.cell + 1)] },
    { other: 1 },
    { page: 'x' },
    { constructor: 1 },
  ]) {
    assert.throws(() => checkBatch(chunk(locator)), TypeError, JSON.stringify(locator).slice(0, 60));
  }
});

test('a report of long texts and lists stays within the limit report_characters and counts what is left out', () => {
  const sheet = { name: '\u0001'.repeat(499), header: 'empty', columns: [], rows: 1 } as const;
  const attachment = { name: 'a'.repeat(499), bytes: 1, status: 'not_read', code: 'no_text' } as const;
  const ranges = Array.from({ length: 5_000 }, (_, at) => [2 * at, 2 * at] as const);
  const ocr = { engine: 'e', languages: ['en'], pages: ranges, mean_confidence: 1, low_confidence_pages: ranges };
  const report: ReportDraft = {
    format: 'eml',
    title: 't'.repeat(10_000),
    front_matter: 'f'.repeat(10_000),
    sheets: Array.from({ length: 10_000 }, () => sheet),
    attachments: Array.from({ length: 100 }, () => ({ ...attachment, warnings: Array(5).fill('w'.repeat(5_000)) })),
    ocr: { ...ocr, not_read: [{ reason: 'too_many', pages: ranges }], seconds: 1 },
    warnings: Array.from({ length: 500 }, () => 'w'.repeat(5_000)),
    milliseconds: 1,
  };
  boundReport(report);
  assert.ok(JSON.stringify(report).length <= reportLimits.characters);
  assert.deepEqual([report.title?.length, report.front_matter?.length], [reportLimits.title, reportLimits.frontMatter]);
  assert.deepEqual(
    report.attachments?.map(({ status }) => status),
    Array(100).fill('not_read'),
  );
  const left = report.warnings.filter((warning) => warning.startsWith('report_cut: '));
  assert.match(left.join(' '), /further sheets .* further warnings /);
  // 4,000 ranges of each of three lists, and the details of each attachment.
  assert.match(left.join(' '), / 12000 further items of lists .* 100 further details of attachments /);
  const [, characters] = / (\d+) further characters of texts /.exec(left.join(' ')) ?? [];
  assert.ok(Number(characters) >= 9_500 + 6_000);
  const short: ExtractionReport = { format: 'md', warnings: ['a: b'], milliseconds: 2, title: 'T' };
  const kept: ReportDraft = { ...short, warnings: [...short.warnings] };
  boundReport(kept);
  assert.deepEqual(kept, short);
});
