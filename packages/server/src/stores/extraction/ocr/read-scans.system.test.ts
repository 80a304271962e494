import assert from 'node:assert/strict';
import { readFileSync, readlinkSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type ExtractionOutcome, type Extractor, isPartial } from '../extraction.ts';
import { pdfOf } from '../formats/testing/documents.fixture.ts';
import { drawPages, scannedPdf } from '../formats/testing/scanned-pdf.fixture.ts';
import { unmappedPdf } from '../formats/testing/unmapped-pdf.fixture.ts';
import { children, file, never, open, taskOf } from '../worker/testing/extractor.fixture.ts';
import type { OcrOptions } from './open-ocr.ts';
import type { Picture } from './recognition.ts';
import { openTestOcr } from './testing/ocr.fixture.ts';

/** Sentences without a rare word, of a page that this file renders itself. */
const sentences = [
  'The library of the town lends books for four weeks.',
  'A reader may borrow twelve volumes and renew each loan twice.',
  'Maps and newspapers stay in the reading room on the second floor.',
  'Whoever returns a book late pays ten cents for each day.',
];
const typeset = pdfOf([
  sentences.map((text, line) => ({ x: 60, y: 720 - line * 18, text, size: 12 })),
  [{ x: 60, y: 720, text: 'Opening hours: Monday to Friday, nine to six.', size: 12 }],
]);

let first: Picture;
let second: Picture;
let pool: Extractor | undefined;

before(async () => {
  const [one, two] = await drawPages(typeset, [1, 2], 300);
  assert.ok(one !== undefined && two !== undefined);
  [first, second] = [one, two];
});

after(async () => {
  await pool?.close();
  assert.deepEqual(children(), []);
});

async function read(pdf: Buffer, options: Partial<OcrOptions> = {}) {
  await pool?.close();
  pool = open({ processes: 1, ocr: () => openTestOcr(options) });
  const { task, chunks } = taskOf(file('pdf', pdf));
  const outcome = await pool.extract(task, never);
  return { outcome, chunks, text: chunks.map((chunk) => chunk.content).join('\n') };
}

function extracted(outcome: ExtractionOutcome) {
  assert.ok(outcome.kind === 'extracted', JSON.stringify(outcome));
  return outcome;
}

/** A page of noise keeps the program busy for seconds. */
function noise(side: number): Picture {
  const gray = Buffer.alloc(side * side);
  let state = 1;
  for (let at = 0; at < gray.length; at += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    gray[at] = state > 1_073_741_824 ? 255 : 0;
  }
  return { width: side, height: side, dpi: 300, gray };
}

test('a page that lies upside down is read, and its boxes are those of the picture', async () => {
  const upsideDown: Picture = { ...first, gray: Buffer.from(first.gray).reverse() };
  const { text, chunks } = await read(scannedPdf([{ picture: upsideDown }]));
  for (const sentence of sentences) assert.ok(text.includes(sentence), text);
  const [, , top] = chunks[0]?.boxes?.[0] ?? [];
  assert.ok((top ?? 0) > 400, 'the first line stands at the foot of the picture');
});

test('a page whose fonts map its letters to signs is read by OCR', async () => {
  const { outcome, text } = await read(unmappedPdf(sentences));
  for (const sentence of sentences) assert.ok(text.includes(sentence), text);
  assert.deepEqual(extracted(outcome).report.warnings, []);
});

test('scanned pages are read, with their pages, languages and confidence in the report', async () => {
  const { outcome, chunks, text } = await read(scannedPdf([{ picture: first }, { picture: second }]));
  const { report, ...counts } = extracted(outcome);
  for (const sentence of sentences) assert.ok(text.includes(sentence), text);
  assert.deepEqual(chunks[0]?.locator?.page, 1);
  assert.match(report.ocr?.engine ?? '', /^tesseract 5\./);
  assert.deepEqual(report.ocr?.languages, ['eng']);
  assert.deepEqual(report.ocr?.pages, [[1, 2]]);
  assert.ok((report.ocr?.mean_confidence ?? 0) > 85, JSON.stringify(report.ocr));
  assert.equal(report.pages_without_text, 0);
  assert.deepEqual(report.warnings, []);
  assert.equal(isPartial({ ...counts, report }), false);
});

test('a page that lies on its side is read', async () => {
  const { text } = await read(scannedPdf([{ picture: first, rotate: 90 }]));
  for (const sentence of sentences) assert.ok(text.includes(sentence), text);
});

test('chunks of scanned pages have boxes around their lines, and chunks of other pages have none', async () => {
  const { chunks } = await read(scannedPdf([{ picture: first }, { picture: second, text: sentences.join(' ') }]));
  const [scanned] = chunks;
  const [page, left, top, width, height] = scanned?.boxes?.[0] ?? [];
  assert.deepEqual([chunks.length, scanned?.boxes?.length, page], [1, sentences.length, 1]);
  // The baseline of the first line begins 60 points from the left and 80 points from the top of the page.
  assert.ok(left !== undefined && left > 57 && left < 63, JSON.stringify(scanned?.boxes));
  assert.ok(
    top !== undefined && height !== undefined && top > 68 && top < 80 && top + height > 78 && top + height < 86,
  );
  assert.ok(width !== undefined && width > 250 && width < 290, JSON.stringify(scanned?.boxes));
});

test('a page with a stamp over a picture is read by OCR, and a page with its own text is not', async () => {
  const long = sentences.join(' ').slice(0, 120);
  const pages = [
    { picture: second, text: 'Copy 17' },
    { picture: second, text: long },
  ];
  const { outcome, text } = await read(scannedPdf(pages));
  assert.deepEqual(extracted(outcome).report.ocr?.pages, [[1, 1]]);
  assert.match(text, /Opening hours: Monday to Friday/);
  assert.match(text, /Copy 17/);
  assert.ok(text.includes(long));
});

test('pages above the limit ocr_pages are named, and the record is partial', async () => {
  const scans = [first, second, second, first].map((picture) => ({ picture }));
  const { outcome, text } = await read(scannedPdf(scans), { maxPages: 2 });
  const { report } = extracted(outcome);
  assert.equal(isPartial(extracted(outcome)), true);
  assert.deepEqual(report.ocr?.pages, [[1, 2]]);
  assert.deepEqual(report.ocr?.not_read, [{ reason: 'page_limit', pages: [[3, 4]] }]);
  assert.match(report.warnings.join(), /ocr_partial: .*pages 3–4\./);
  assert.equal(report.pages_without_text, 2);
  assert.match(text, /Opening hours/);
});

test('a page that exceeds the limit ocr_page_seconds or the limit ocr_seconds is named', async () => {
  const scans = scannedPdf([{ picture: noise(1000) }, { picture: first }]);
  // The program alone takes longer to start.
  const tooShort = 0.03;
  const slow = (await read(scans, { pageSeconds: tooShort })).outcome;
  assert.ok(slow.kind === 'failed', JSON.stringify(slow));
  assert.deepEqual(slow.report?.ocr?.not_read, [{ reason: 'page_time_limit', pages: [[1, 2]] }]);
  const { outcome } = await read(scans, { recordSeconds: tooShort });
  assert.ok(outcome.kind === 'failed' && outcome.code === 'no_text', JSON.stringify(outcome));
  assert.deepEqual(outcome.report?.ocr?.not_read, [{ reason: 'time_limit', pages: [[1, 2]] }]);
  assert.match(outcome.message, /OCR of the record took too long/);
});

test('a page above the limit ocr_megapixels is drawn with fewer pixels, or named', async () => {
  const { text } = await read(scannedPdf([{ picture: first }]), { maxPixels: 4_000_000 });
  assert.ok(text.includes(sentences[0] ?? '?'), text);
  const { outcome } = await read(scannedPdf([{ picture: first }, { picture: second }]), { maxPixels: 500_000 });
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
  assert.deepEqual(outcome.report?.ocr?.not_read, [{ reason: 'pixel_limit', pages: [[1, 2]] }]);
});

test('a picture that declares 60,000 × 60,000 pixels is not decoded', async () => {
  const bomb = { width: 60_000, height: 60_000, dpi: 7_200, gray: Buffer.alloc(1024) };
  const { outcome } = await read(scannedPdf([{ picture: bomb }]));
  assert.ok(outcome.kind === 'failed' && outcome.code === 'no_text', JSON.stringify(outcome));
  assert.deepEqual(outcome.report?.ocr?.not_read, [{ reason: 'pixel_limit', pages: [[1, 1]] }]);
  assert.ok((outcome.report?.peak_memory_bytes ?? 0) < 300 * 2 ** 20);
});

test('without the program or its language, a scan ends in no_text, whose message names the packages', async () => {
  const scan = scannedPdf([{ picture: first }]);
  for (const [options, packages] of [
    [{ program: 'missing-program', folders: ['/usr/bin'] }, 'tesseract-ocr, tesseract-ocr-eng'],
    [{ languages: ['eng', 'chi_sim_vert'] }, 'tesseract-ocr, tesseract-ocr-chi-sim-vert'],
  ] as const) {
    const { outcome } = await read(scan, options);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'no_text', JSON.stringify(outcome));
    assert.ok(outcome.message.endsWith(`Install the packages ${packages} to read scanned pages.`), outcome.message);
    assert.match(outcome.report?.warnings.join() ?? '', /ocr_unavailable: Install/);
  }
  const { outcome } = await read(pdfOf([[]]), { program: 'missing-program' });
  assert.ok(outcome.kind === 'failed' && !outcome.message.includes('Install'), 'an empty page is no scan');
});

test('the program has no network, no capability and a separate user, and ends when the record is cancelled', async () => {
  await pool?.close();
  pool = open({ processes: 1, ocr: () => openTestOcr() });
  const cancelled = new AbortController();
  const { task } = taskOf(file('pdf', scannedPdf([{ picture: noise(3500) }])));
  const outcome = pool.extract(task, cancelled.signal);
  const pid = await findProgram();
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  assert.match(status, /^CapEff:\s+0{16}$/m);
  assert.match(status, /^NoNewPrivs:\s+1$/m);
  assert.match(status, /^Seccomp:\s+2$/m);
  for (const namespace of ['net', 'mnt', 'pid', 'user'])
    assert.notEqual(readlinkSync(`/proc/${pid}/ns/${namespace}`), readlinkSync(`/proc/self/ns/${namespace}`));
  assert.equal(readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').filter(Boolean).sort().join(), environment);
  cancelled.abort();
  assert.deepEqual(await outcome, { kind: 'cancelled' });
  while (programs().length > 0) await delay(10);
});
/** `PWD` is set by bubblewrap. */
const environment = 'OMP_THREAD_LIMIT=1,PWD=/';

async function findProgram(): Promise<number> {
  for (;;) {
    const [pid] = programs();
    if (pid !== undefined) return pid;
    await delay(10);
  }
}

/** Returns the running programs in sandboxes of this process. Outside, the program is asked for its version only. */
function programs(): number[] {
  return children().flatMap((sandbox) => descendants(sandbox).filter(isProgram));
}

function descendants(pid: number): number[] {
  try {
    return children(pid).flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return []; // The process has ended.
  }
}

function isProgram(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === '/usr/bin/tesseract';
  } catch {
    return false;
  }
}
