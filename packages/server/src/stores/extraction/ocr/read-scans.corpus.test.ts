import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scoreText } from '../../../../../../scripts/score/metrics.ts';
import { corpusFile } from '../../../../../../test/support/corpus.ts';
import type { Extractor } from '../extraction.ts';
import { readDocument } from '../formats/read-document.ts';
import { drawPages, scannedPdf } from '../formats/testing/scanned-pdf.fixture.ts';
import { file, never, open, taskOf } from '../worker/testing/extractor.fixture.ts';
import { openTestOcr } from './testing/ocr.fixture.ts';

/*
 * Draws pages of the tuning half at 300 pixels per inch, builds a PDF of the pictures, and compares what OCR reads with
 * the text of the original pages.
 */

/** Documents in English with at least 400 characters, and pages spread over the longest. */
const english: readonly (readonly [path: string, pages: readonly number[]])[] = [
  ['pdf/deb__debian-policy__policy.pdf', [41, 150]],
  ['pdf/docling__code_and_formula.pdf', [1]],
  ['pdf/docling__text_document_01.odt.pdf', [1]],
  ['pdf/pdfminer__pr-00530-ml-lines.pdf', [1]],
  ['pdf/pypdf-samples__google-doc-document.pdf', [1]],
  ['pdf/pypdf-samples__with-attachment.pdf', [1]],
  ['pdf/docling__bookmark_sample.pdf', [2]],
  ['pdf/tika__testPDF_rotated.pdf', [1]],
];
const leastShare = 0.97;

let pool: Extractor | undefined;
after(() => pool?.close());

test('OCR finds .97 of the words of pages of the corpus that were drawn at 300 pixels per inch', async (t) => {
  pool = open({ processes: 1, ocr: () => openTestOcr() });
  const shares: number[] = [];
  for (const [path, pages] of english) {
    const { found, seconds, confidence } = await measure(pool, path, pages);
    shares.push(...pages.map(() => found));
    t.diagnostic(`${path}: recall ${found.toFixed(3)}, ${seconds.toFixed(1)} s a page, confidence ${confidence}`);
  }
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  t.diagnostic(`mean recall of ${shares.length} pages: ${mean.toFixed(3)}`);
  assert.ok(mean >= leastShare, `mean recall ${mean.toFixed(3)}`);
});

async function measure(extractor: Extractor, path: string, pages: readonly number[]) {
  const bytes = corpusFile(path);
  const { blocks } = await readDocument({ format: 'pdf', bytes });
  const truth = blocks.filter(({ page }) => pages.includes(page ?? 0)).map(({ text }) => text);
  const pictures = await drawPages(bytes, pages, 300);
  const { task, chunks } = taskOf(file('pdf', scannedPdf(pictures.map((picture) => ({ picture })))));
  const outcome = await extractor.extract(task, never);
  assert.ok(outcome.kind === 'extracted', `${path}: ${JSON.stringify(outcome)}`);
  const score = scoreText(truth.join('\n'), chunks.map(({ content }) => content).join('\n'));
  const { ocr } = outcome.report;
  return { found: score.recall, seconds: (ocr?.seconds ?? 0) / pages.length, confidence: ocr?.mean_confidence ?? 0 };
}
