import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusFile } from '../../../../../../test/support/corpus.ts';
import { tokenize } from '../../search/analysis/tokenizer.ts';
import { type Document, layOut } from '../document.ts';
import { readDocx } from './docx/read-docx.ts';
import { readHtml } from './html/read-html.ts';
import { readPdf } from './pdf/read-pdf.ts';
import { readMarkdown } from './read-markdown.ts';
import { readText } from './read-text.ts';
import { readXlsx } from './xlsx/read-xlsx.ts';

/** Returns the share of the words of `expected` that `text` also contains, counted with repetitions. */
function wordRecall(expected: string, text: string): number {
  const counts = new Map<string, number>();
  for (const word of tokenize(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = tokenize(expected);
  let found = 0;
  for (const word of words) {
    const remaining = counts.get(word) ?? 0;
    if (remaining > 0) found += 1;
    counts.set(word, remaining - 1);
  }
  return words.length === 0 ? 1 : found / words.length;
}

const readers = { txt: readText, md: readMarkdown, html: readHtml, docx: readDocx, pdf: readPdf } as const;

async function read(path: string): Promise<Document> {
  const format = path.split('/')[0] as keyof typeof readers; // the folders of the corpus are the formats
  return readers[format](corpusFile(path));
}

const truths: ReadonlyArray<readonly [path: string, truth: string, recall: number]> = [
  ['txt/uchardet__fr_utf-16.be.txt', 'gt/txt/uchardet__fr_utf-16.be.txt.utf8.txt', 1],
  ['docx/poi__SampleDoc.docx', 'gt/docx/poi__SampleDoc.docx.txt', 0.98],
  ['docx/docling__unit_test_headers.docx', 'gt/docx/docling__unit_test_headers.docx.txt', 0.98],
  ['docx/pandoc__tables.docx', 'gt/docx/pandoc__tables.docx.txt', 0.98],
  ['docx/pandoc__track_changes_insertion.docx', 'gt/docx/pandoc__track_changes_insertion.docx.txt', 0.98],
  ['html/docling__example_03.html', 'gt/html/docling__example_03.html.txt', 0.95],
  [
    'html/docling__html_inline_group_in_table_cell.html',
    'gt/html/docling__html_inline_group_in_table_cell.html.txt',
    0.95,
  ],
  ['md/docling__inline_and_formatting.md', 'gt/md/docling__inline_and_formatting.md.txt', 0.95],
  ['pdf/docling__right_to_left_01.pdf', 'gt/pdf/docling__right_to_left_01.pdf.txt', 0.8],
];
for (const [path, truth, recall] of truths) {
  test(`${path} is read with at least ${recall * 100} % of its words`, async () => {
    const { text } = layOut(await read(path));
    const found = wordRecall(corpusFile(truth).toString(), text);
    assert.ok(found >= recall, `${found}`);
  });
}

const refused: ReadonlyArray<readonly [path: string, code: string]> = [
  ['pdf/pdfminer__aes-256.pdf', 'file_encrypted'],
  ['pdf/unstructured__password.pdf', 'file_encrypted'],
  ['pdf/qpdf__issue-100.pdf', 'file_damaged'],
  ['docx/poi__bug53475-password-is-pass.docx', 'file_encrypted'],
  ['docx/poi__truncated62886.docx', 'file_damaged'],
  ['docx/poi__ExternalEntityInText.docx', 'file_damaged'],
];
for (const [path, code] of refused) {
  test(`${path} is refused as ${code}`, () => assert.rejects(read(path), { code }));
}

const shown: ReadonlyArray<readonly [path: string, text: RegExp]> = [
  ['pdf/pdfjs__helloworld-bad.pdf', /Hello/i],
  ['pdf/deb__maint-guide.ru.pdf', /\.zip ⁶\)/],
  ['pdf/pypdf-samples__habibi.pdf', /حَبيبي/],
  ['pdf/docling__right_to_left_01.pdf', /تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R و Python/],
  ['pdf/pypdf__r5-empty-password.pdf', /\w/],
  ['docx/docling__docx_checkboxes.docx', /\[x\] Orange juice.*\[ \] Tea/],
  ['docx/docling__drawingml.docx', /Category 2 \| 2\.5 \| 4\.4 \| 2\n/],
];
for (const [path, text] of shown) {
  test(`${path} shows ${text}`, async () => assert.match(layOut(await read(path)).text, text));
}

test('the bookmarks of a long document determine its headings', async () => {
  const { blocks } = await read('pdf/asvs__OWASP_Application_Security_Verification_Standard_5.0.0_en.pdf');
  const found = blocks.find((block) => block.text === 'V2.3 Business Logic Security');
  assert.deepEqual([found?.kind, found?.level], ['heading', 2]);
});

test('the workbook with an entity bomb is refused before it is read', async () => {
  await assert.rejects(readXlsx(corpusFile('xlsx/poi__poc-xmlbomb-empty.xlsx')), { code: 'file_damaged' });
});
