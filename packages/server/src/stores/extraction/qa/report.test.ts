import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { docxOf, paragraph, pdfOf } from '../formats/testing/documents.fixture.ts';
import { file, never, open, taskOf } from '../worker/testing/extractor.fixture.ts';

const extractor = open();
after(() => extractor.close());

test('the report contains what was read and omitted, the reader, and the resources used', async () => {
  const body = `${paragraph('Head', '<w:outlineLvl w:val="0"/>')}${paragraph('Text.')}
    <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>`;
  const { task, chunks } = taskOf(file('docx', docxOf(body)));
  const outcome = await extractor.extract(task, never);
  assert.ok(outcome.kind === 'extracted');
  const { milliseconds, peak_memory_bytes, ...report } = outcome.report;
  assert.deepEqual(report, {
    format: 'docx',
    parser: 'quartermaster-docx/6',
    warnings: [],
    dropped: { deleted: 4, hidden: 0, comments: 0, headers_and_footers: 0 },
    characters: 'Head\n\nText.'.length,
    headings: 1,
    tables: 0,
  });
  assert.ok(milliseconds >= 0);
  assert.ok((peak_memory_bytes ?? 0) > 2 ** 20);
  assert.deepEqual(chunks[0]?.locator, { heading_path: ['Head'], char_start: 0, char_end: 11 });
});

test('a scan fails, and its report mentions that its pages contain no text', async () => {
  {
    const outcome = await extractor.extract(taskOf(file('pdf', pdfOf([[]]))).task, never);
    assert.ok(outcome.kind === 'failed');
    assert.equal(outcome.code, 'no_text');
    assert.deepEqual([outcome.report?.pages, outcome.report?.pages_without_text], [1, 1]);
    assert.match(outcome.report?.warnings[0] ?? '', /^no_text_layer/);
  }
});
