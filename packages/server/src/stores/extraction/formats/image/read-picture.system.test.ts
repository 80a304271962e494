import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { type ExtractionOutcome, type Extractor, isPartial } from '../../extraction.ts';
import type { OcrOptions } from '../../ocr/open-ocr.ts';
import type { Ocr } from '../../ocr/recognition.ts';
import { openTestOcr } from '../../ocr/testing/ocr.fixture.ts';
import { createPictureCollector } from '../../worker/protocol.ts';
import { children, file, never, open, taskOf } from '../../worker/testing/extractor.fixture.ts';
import { pdfOf } from '../testing/documents.fixture.ts';
import { drawPages } from '../testing/scanned-pdf.fixture.ts';
import type { PictureFormat } from './picture.ts';
import { mostDecodedPixels } from './picture.ts';
import { readPicture } from './read-picture.ts';
import { readPng } from './read-png.ts';
import { readTiff } from './read-tiff.ts';
import { readWebp } from './read-webp.ts';

const sentences = [
  'The library of the town lends books for four weeks.',
  'Maps and newspapers stay on the second floor.',
];
const sample = (name: string) => readFileSync(new URL(`testing/${name}`, import.meta.url));

let pool: Extractor | undefined;
after(async () => {
  await pool?.close();
  assert.deepEqual(children(), []);
});

async function read(format: PictureFormat, bytes: Uint8Array, options: Partial<OcrOptions> = {}) {
  await pool?.close();
  pool = open({ processes: 1, ocr: () => openTestOcr(options) });
  const { task, chunks } = taskOf(file(format, bytes));
  const outcome = await pool.extract(task, never);
  return {
    outcome,
    chunks,
    text: chunks
      .map(({ content }) => content)
      .join(' ')
      .replace(/\s+/g, ' '),
  };
}

interface Png {
  readonly width: number;
  readonly height: number;
  readonly depth?: number;
  readonly colorType?: number;
  readonly interlace?: number;
  /** Rows with their filters. */
  readonly rows: Uint8Array;
  readonly chunks?: Readonly<Record<string, Uint8Array>>;
}

function pngOf({ width, height, depth = 8, colorType = 0, interlace = 0, rows, chunks = {} }: Png): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, depth, colorType, 0, 0, interlace]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const all = [
    ['IHDR', header],
    ...Object.entries(chunks),
    ['IDAT', deflateSync(rows)],
    ['IEND', Buffer.alloc(0)],
  ] as const;
  const parts = all.map(([name, data]) => {
    const body = Buffer.concat([Buffer.from(name as string), data as Uint8Array]);
    const chunk = Buffer.alloc(body.length + 8);
    chunk.writeUInt32BE(body.length - 4, 0);
    body.copy(chunk, 4);
    chunk.writeUInt32BE(crc32(body), body.length + 4);
    return chunk;
  });
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

function grayOf(png: Png): number[] {
  return [...(readPng(pngOf(png)).pages[0]?.parts[0]?.data ?? [])];
}

test('the words of pictures that another program has made are read, page by page', async () => {
  for (const [format, name] of [
    ['jpg', 'turned.jpg'],
    ['webp', 'lossy.webp'],
    ['tiff', 'strips.tiff'],
    ['png', 'palette.png'],
  ] as const) {
    const { outcome, text, chunks } = await read(format, sample(name));
    for (const sentence of sentences) assert.ok(text.includes(sentence), `${name}: ${text} ${JSON.stringify(outcome)}`);
    assert.ok(outcome.kind === 'extracted' && !isPartial(outcome), JSON.stringify(outcome));
    assert.deepEqual([outcome.report.format, outcome.report.pages, outcome.report.ocr?.pages], [format, 1, [[1, 1]]]);
    assert.deepEqual([outcome.report.warnings, chunks[0]?.locator?.page], [[], 1]);
  }
  const { text, outcome } = await read('tiff', sample('two-pages.tiff'), { maxPages: 1 });
  assert.ok(text.includes(sentences[0] ?? '?') && outcome.kind === 'extracted' && isPartial(outcome), text);
  assert.deepEqual(outcome.report.ocr?.not_read, [{ reason: 'page_limit', pages: [[2, 2]] }]);
  const both = await read('tiff', sample('two-pages.tiff'));
  assert.match(both.text, /second floor.*Opening hours: Monday to Friday, nine to six\./);
});

test('small letters of a screen are enlarged and read', async () => {
  const [picture] = await drawPages(
    pdfOf([sentences.map((text, at) => ({ x: 20, y: 700 - at * 20, text, size: 12 }))]),
    [1],
    72,
  );
  assert.ok(picture !== undefined);
  const { width, height, gray } = picture;
  const rows = Buffer.concat(
    Array.from({ length: height }, (_, y) => [Buffer.from([0]), gray.subarray(y * width, (y + 1) * width)]).flat(),
  );
  const { text } = await read('png', pngOf({ width, height, rows }));
  assert.ok(text.includes('lends books for four weeks'), text);
});

test('without tesseract, the message names the packages to install; with OCR off, the setting', async () => {
  const { outcome } = await read('png', sample('palette.png'), { program: 'missing-program' });
  assert.ok(outcome.kind === 'failed' && outcome.code === 'no_text', JSON.stringify(outcome));
  assert.match(outcome.message, /Install the packages tesseract-ocr, tesseract-ocr-eng/);
  await pool?.close();
  pool = open({ processes: 1 });
  const off: ExtractionOutcome = await pool.extract(taskOf(file('png', sample('palette.png'))).task, never);
  assert.ok(off.kind === 'failed' && /QUARTERMASTER_OCR/.test(off.message), JSON.stringify(off));
});

test('the limit picture_pixels leaves larger pictures packed', async () => {
  const webp = Buffer.alloc(64);
  webp.write('RIFF\x38\0\0\0WEBPVP8X', 'latin1');
  webp.writeUIntLE(9_999, 24, 3);
  webp.writeUIntLE(9_999, 27, 3);
  const tiff = Buffer.from('49492a0008000000020000010400010000000000000001010400010000000000000000000000', 'hex');
  tiff.writeUInt32LE(10_000, 18);
  tiff.writeUInt32LE(10_000, 30);
  const pictures: ReadonlyArray<readonly [PictureFormat, Buffer]> = [
    ['png', pngOf({ width: 60_000, height: 60_000, rows: Buffer.alloc(10) })],
    ['tiff', tiff],
    ['webp', webp],
    ['jpg', Buffer.from('ffd8ffc0001108ffffffff03011100021100031100ffda', 'hex')],
  ];
  for (const [format, bytes] of pictures) {
    const { outcome } = await read(format, bytes);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'no_text', JSON.stringify(outcome));
    assert.deepEqual(outcome.report?.ocr?.not_read, [{ reason: 'pixel_limit', pages: [[1, 1]] }], format);
    assert.ok((outcome.report?.peak_memory_bytes ?? 0) < 300 * 2 ** 20);
  }
  assert.equal(
    readPng(pngOf({ width: mostDecodedPixels / 4, height: 4, rows: Buffer.alloc(mostDecodedPixels + 4) })).pages[0]
      ?.parts.length,
    1,
  );
});

test('every form of pixels of a PNG becomes its shade of grey on white paper', () => {
  assert.deepEqual(grayOf({ width: 3, height: 1, rows: Buffer.from([0, 0, 128, 255]) }), [0, 128, 255]);
  assert.deepEqual(grayOf({ width: 2, height: 1, depth: 16, rows: Buffer.from([0, 0x80, 0xff, 0xff, 0]) }), [128, 255]);
  assert.deepEqual(
    grayOf({ width: 9, height: 1, depth: 1, rows: Buffer.from([0, 0b10100000, 0b10000000]) }),
    [255, 0, 255, 0, 0, 0, 0, 0, 255],
  );
  assert.deepEqual(grayOf({ width: 3, height: 1, depth: 2, rows: Buffer.from([0, 0b00011011]) }), [0, 85, 170]);
  assert.deepEqual(
    grayOf({ width: 2, height: 1, colorType: 2, rows: Buffer.from([0, 255, 0, 0, 0, 0, 255]) }),
    [76, 29],
  );
  assert.deepEqual(
    grayOf({ width: 3, height: 1, colorType: 4, rows: Buffer.from([0, 0, 255, 0, 0, 0, 51]) }),
    [0, 255, 204],
  );
  const palette = { PLTE: Buffer.from([0, 0, 0, 255, 255, 255, 0, 0, 0]), tRNS: Buffer.from([255, 255, 0]) };
  assert.deepEqual(
    grayOf({ width: 3, height: 1, colorType: 3, rows: Buffer.from([0, 0, 1, 2]), chunks: palette }),
    [0, 255, 255],
  );
});

test('rows of every filter are restored, and interlaced pictures are put together', () => {
  const rows = Buffer.from([0, 10, 20, 30, 1, 10, 10, 10, 2, 5, 5, 5, 3, 5, 5, 5, 4, 1, 1, 1]);
  assert.deepEqual(grayOf({ width: 3, height: 5, rows }), [10, 20, 30, 10, 20, 30, 15, 25, 35, 12, 23, 34, 13, 24, 35]);
  // A picture of 3 by 3 has a pixel in the passes 1, 4 (2), 5, 6 and 7; each row begins with its filter.
  const passes = Buffer.from([0, 0, 0, 2, 0, 20, 22, 0, 1, 0, 21, 0, 10, 11, 12]);
  assert.deepEqual(grayOf({ width: 3, height: 3, interlace: 1, rows: passes }), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
});

test('damaged and hostile pictures are refused', async () => {
  const tiff = (hex: string) => Buffer.from(`49492a00${hex}`, 'hex');
  const strips = sample('strips.tiff');
  const cases: Array<readonly [read: () => unknown, message: RegExp]> = [
    [() => readPng(pngOf({ width: 2, height: 2, rows: Buffer.alloc(1_000_000) })), /more than its header says/],
    [() => readPng(pngOf({ width: 2, height: 2, rows: Buffer.alloc(3) })), /fewer pixels/],
    [() => readPng(pngOf({ width: 0, height: 2, rows: Buffer.alloc(3) })), /header is invalid/],
    [() => readPng(pngOf({ width: 2, height: 2, rows: Buffer.from([9, 0, 0, 9, 0, 0]) })), /unknown filter/],
    [() => readPng(sample('palette.png').subarray(0, 3000)), /cut off/],
    [() => readTiff(tiff('08000000000008000000')), /loop/],
    [() => readTiff(tiff('ffffff00')), /cut off/],
    [() => readTiff(tiff('00000000')), /no page/],
    [() => readTiff(Buffer.from('49492b0008000000', 'hex')), /BigTIFF/],
    [() => readTiff(strips.subarray(0, strips.length / 2)), /cut off/],
    [() => readWebp(sample('lossy.webp').subarray(0, 2000)), /cannot be decoded/],
    [() => readWebp(Buffer.alloc(100)), /no WebP header/],
  ];
  for (const [reading, message] of cases)
    await assert.rejects(async () => reading(), { name: 'ExtractionError', code: 'file_damaged', message });
  for (const name of ['turned.jpg', 'lossy.webp', 'two-pages.tiff', 'strips.tiff', 'palette.png']) {
    const bytes = sample(name);
    const format = (name.split('.')[1] ?? '') as PictureFormat; // of the list above
    const { outcome } = await read(format, bytes.subarray(0, bytes.length / 3));
    const isReported =
      outcome.kind === 'failed' || (outcome.kind === 'extracted' && outcome.report.warnings.length > 0);
    assert.ok(isReported, `${name}: ${JSON.stringify(outcome)}`);
  }
});

test('a picture of 40,000,000 pixels in one line is not sent, and the report names the reason', async () => {
  const width = mostDecodedPixels;
  const job = { kind: 'on', engine: 'e', languages: ['eng'], maxPixels: 40_000_000, maxPages: 9 } as const;
  const ocr: Ocr = {
    job,
    recognize: async (picture) => {
      createPictureCollector(job.maxPixels).begin({ type: 'picture', ...picture });
      return { kind: 'unread', reason: 'failed', seconds: 0 };
    },
  };
  for (const [columns, rows] of [
    [width, 1],
    [1, width / 2],
    [50_000, 2],
  ] as const) {
    const png = pngOf({ width: columns, height: rows, rows: Buffer.alloc((columns + 1) * rows) });
    const { facts } = await readPicture('png', png, { ocr });
    assert.deepEqual(facts.ocr?.not_read, [{ reason: 'pixel_limit', pages: [[1, 1]] }]);
  }
});
