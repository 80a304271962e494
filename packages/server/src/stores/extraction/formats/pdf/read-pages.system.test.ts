import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChunks } from '../../chunking/create-chunks.ts';
import type { ExtractedChunk } from '../../extraction.ts';
import { children, file, never, open, taskOf } from '../../worker/testing/extractor.fixture.ts';
import { type Placed, pdfOf } from '../testing/documents.fixture.ts';
import { openPdf } from './open-pdf.ts';
import { createAnnotationReader } from './read-annotations.ts';
import { readPdf } from './read-pdf.ts';
import { createSegmentReader } from './read-segments.ts';

/** Returns pages that differ and have separate fonts, so that the same addresses stand for different fonts. */
function pageOf(page: number): Placed[] {
  const font = (['Helvetica', 'Helvetica-Bold', 'Courier'] as const)[page % 3];
  const line = (at: number) => ({
    x: 50,
    y: 700 - at * 14,
    text: `Page ${page} says in line ${at} what it has to say`,
  });
  return Array.from({ length: 40 }, (_, at) => (font === undefined ? line(at) : { ...line(at), font }));
}
const document = pdfOf(Array.from({ length: 120 }, (_, index) => pageOf(index + 1)));

/** The same document without its cross-reference table, which the reader has to rebuild. */
const withoutIndex = Buffer.from(document.toString('latin1').replace(/startxref\n\d+/, 'startxref\n7'), 'latin1');

test('a page gives the same result whatever pages were read before it', async () => {
  for (const bytes of [document, withoutIndex]) {
    const pdf = await openPdf(bytes);
    assert.equal(pdf.numPages, 120);
    const indexes = Array.from({ length: pdf.numPages }, (_, index) => index);
    const annotations = createAnnotationReader(pdf);
    const reader = createSegmentReader(pdf, annotations);
    const forwards = indexes.map((index) => reader.read(index));
    const backwards = indexes.toReversed().map((index) => reader.read(index));
    annotations.close();
    pdf.close();
    assert.deepEqual(backwards.toReversed(), forwards);
  }
});

test('readPdf reports the percentage after each page, in order, up to 100', async () => {
  const percents: number[] = [];
  await readPdf(document, { onPage: (percent) => percents.push(percent) });
  assert.deepEqual(
    percents,
    Array.from({ length: 120 }, (_, index) => Math.floor(((index + 1) * 100) / 120)),
  );
});

test('a warning names the broken pages, and the others are read', async () => {
  // The 60th page is object 124; there is no object 999.
  const broken = Buffer.from(document.toString('latin1').replace(' 124 0 R', ' 999 0 R'), 'latin1');
  const { warnings, facts, blocks } = await readPdf(broken);
  assert.match(warnings.join(), /could not be read: 60\./);
  assert.equal(facts.pages, 120);
  const text = blocks.map((block) => block.text).join('\n');
  assert.match(text, /Page 59 says/);
  assert.doesNotMatch(text, /Page 60 says/);
  assert.match(text, /Page 61 says/);
});

test('the child returns the same chunks of a long document as its reader in this process, and can be cancelled', async () => {
  const chunks: ExtractedChunk[] = [];
  const sink = {
    stage: () => {},
    chunk: (chunk: ExtractedChunk) => void chunks.push(chunk),
    reportedRow: () => undefined,
  };
  const job = {
    kind: 'text',
    format: 'pdf',
    charset: null,
    splitter: null,
    chunkSize: null,
    title: '',
    fileName: null,
    maxChunks: 9999,
    onDuplicate: 'keep',
    columns: null,
    password: null,
    ocr: { kind: 'off' },
  } as const;
  const report = { format: 'pdf', warnings: [], milliseconds: 0 };
  await createChunks({ job, bytes: document, sink, report, recognize: () => Promise.reject(new Error('no scan')) });
  const pool = open({ processes: 1 });
  for (let round = 0; round < 2; round += 1) {
    const { task, chunks: read } = taskOf(file('pdf', document));
    assert.equal((await pool.extract(task, never)).kind, 'extracted');
    assert.deepEqual(read, chunks);
  }
  const cancelled = new AbortController();
  const { task } = taskOf(file('pdf', document), { onStage: (_, percent) => percent > 10 && cancelled.abort() });
  assert.deepEqual(await pool.extract(task, cancelled.signal), { kind: 'cancelled' });
  assert.deepEqual(children(), []);
  await pool.close();
});
