import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { scoreText } from '../../../../../../scripts/score/metrics.ts';
import { corpusFile } from '../../../../../../test/support/corpus.ts';
import type { Extractor } from '../extraction.ts';
import { readDocument } from '../formats/read-document.ts';
import { drawPages, scannedPdf } from '../formats/testing/scanned-pdf.fixture.ts';
import { file, never, open, taskOf } from '../worker/testing/extractor.fixture.ts';
import type { OcrOptions } from './open-ocr.ts';
import type { Picture } from './recognition.ts';
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
  pool = await reopen(pool, {});
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

/** A page in Russian with commands in Latin letters, which `osd` alone takes for a page in Latin letters. */
const russian = ['pdf/deb__maint-guide.ru.pdf', 20] as const;

test('a page in another script is read in a language of this script that no setting names', async () => {
  pool = await reopen(pool, {});
  const { found, languages } = await measure(pool, russian[0], [russian[1]]);
  assert.ok(found >= 0.9, `recall ${found.toFixed(3)}`);
  assert.ok(
    ['rus', 'eng'].every((language) => languages.includes(language)),
    languages.join(),
  );
});

test('a page in a script without language data is not read, and the message names the package', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'language-data-'));
  try {
    chmodSync(dataFolder, 0o755); // the program runs as another user
    for (const name of ['eng', 'osd'])
      copyFileSync(`/usr/share/tesseract-ocr/5/tessdata/${name}.traineddata`, join(dataFolder, `${name}.traineddata`));
    pool = await reopen(pool, { dataFolder });
    const [picture] = await drawPages(corpusFile(russian[0]), [russian[1]], 200);
    assert.ok(picture !== undefined);
    const { outcome } = await extract(pool, [picture]);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'no_text', JSON.stringify(outcome));
    assert.deepEqual(outcome.report?.ocr?.not_read, [{ reason: 'script_not_installed', pages: [[1, 1]] }]);
    assert.match(outcome.message, /Their script is Cyrillic\. Install the package tesseract-ocr-rus, or /);
  } finally {
    rmSync(dataFolder, { recursive: true });
  }
});

async function reopen(before: Extractor | undefined, options: Partial<OcrOptions>): Promise<Extractor> {
  await before?.close();
  return open({ processes: 1, ocr: () => openTestOcr(options) });
}

async function extract(extractor: Extractor, pictures: readonly Picture[]) {
  const { task, chunks } = taskOf(file('pdf', scannedPdf(pictures.map((picture) => ({ picture })))));
  const outcome = await extractor.extract(task, never);
  return { outcome, text: chunks.map(({ content }) => content).join('\n') };
}

async function measure(extractor: Extractor, path: string, pages: readonly number[]) {
  const bytes = corpusFile(path);
  const { blocks } = await readDocument({ format: 'pdf', bytes });
  const truth = blocks.filter(({ page }) => pages.includes(page ?? 0)).map(({ text }) => text);
  const pictures = await drawPages(bytes, pages, 300);
  const { outcome, text } = await extract(extractor, pictures);
  assert.ok(outcome.kind === 'extracted', `${path}: ${JSON.stringify(outcome)}`);
  const { recall: found } = scoreText(truth.join('\n'), text);
  const { seconds = 0, mean_confidence: confidence = 0, languages = [] } = outcome.report.ocr ?? {};
  return { found, seconds: seconds / pages.length, confidence, languages };
}
