import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { type Pixels, pixelAt, readPng } from '../../../../../../test/support/png.ts';
import { encryptedPdf, placedPdf, textPdf } from '../../../../../../test/support/sample-pdf.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { queues } from '../../../platform/admission/queues.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { type Box, checkPageAnswer, type PageBoxes, type PageJob, pageLimits } from '../page-protocol.ts';
import { openPageReader, type PageReaderOptions } from './open-page-reader.ts';

const never = new AbortController().signal;
const owner = { projectId: 'one', keyId: 'busy' };
const content = 'digest';

function read(bytes: Uint8Array, job: Partial<PageJob>, options: Partial<PageReaderOptions> = {}, signal = never) {
  const reader = openPageReader({
    admission: createAdmission(),
    memoryMb: 1024,
    logger: createLogger('silent'),
    ...options,
  });
  async function* open() {
    yield bytes;
  }
  return reader.read(
    {
      owner,
      content,
      job: { format: 'pdf', passage: '', first: 1, last: 1, scanned: [], picture: null, ...job },
      open,
    },
    signal,
  );
}

async function pagesOf(bytes: Uint8Array, job: Partial<PageJob>): Promise<readonly PageBoxes[]> {
  const result = await read(bytes, job);
  assert.ok(result.kind === 'read', JSON.stringify(result));
  return result.pages;
}

function boxesOf(bytes: Uint8Array, passage: string, last = 1) {
  return pagesOf(bytes, { passage, last });
}

/** Asserts that a box has the place of a line of 11 points whose baseline begins at a point. Helvetica is up to 1.2 em high. */
function assertAt([left, top, width, height]: Box, point: { x: number; y: number; width: number }): void {
  const found = JSON.stringify([left, top, width, height]);
  assert.ok(Math.abs(left - point.x) < 2 && Math.abs(width - point.width) < 4, found);
  assert.ok(top < point.y - 6 && top > point.y - 16 && top + height > point.y - 1 && top + height < point.y + 6, found);
}

const lines = ['Foxes sleep in dens below', 'the oldest trees of a quiet', 'forest until the snow melts.'];
/** Widths in Helvetica of 11 points, from its font metrics. */
const widths = [129.61, 123.52, 130.22];

test('a passage has a box for each line, in both columns and on both pages, and nothing else has one', async () => {
  const other = { text: 'Something else stands here.', x: 50, y: 300 };
  const bytes = placedPdf([
    [{ text: lines[0] ?? '', x: 50, y: 100 }, { text: lines[1] ?? '', x: 320, y: 700 }, other],
    [other, { text: lines[2] ?? '', x: 50, y: 740 }],
  ]);
  const [one, two, ...more] = await boxesOf(bytes, lines.join(' '), 2);
  assert.deepEqual(more, []);
  assert.deepEqual([one?.page, one?.width, one?.height, two?.page], [1, 600, 800, 2]);
  assert.deepEqual([one?.boxes.length, two?.boxes.length], [2, 1]);
  assertAt(one?.boxes[0] as Box, { x: 50, y: 700, width: widths[0] ?? 0 });
  assertAt(one?.boxes[1] as Box, { x: 320, y: 100, width: widths[1] ?? 0 });
  assertAt(two?.boxes[0] as Box, { x: 50, y: 60, width: widths[2] ?? 0 });
});

test('boxes count from the top left corner of the page as it is shown, with its crop box and its rotation', async () => {
  const line = { text: lines[0] ?? '', x: 50, y: 700 };
  const [cropped] = await boxesOf(placedPdf([[line]], '/CropBox [20 100 520 780]'), line.text);
  assert.deepEqual([cropped?.width, cropped?.height], [500, 680]);
  assertAt(cropped?.boxes[0] as Box, { x: 30, y: 80, width: widths[0] ?? 0 });
  const [turned] = await boxesOf(placedPdf([[line]], '/Rotate 90'), line.text);
  assert.deepEqual([turned?.width, turned?.height, turned?.boxes.length], [800, 600, 1]);
  const [left, top, width, height] = (turned as PageBoxes).boxes[0] as Box;
  // The line runs from the top to the bottom, and its baseline is at the left: x = 700, y = 50.
  assert.ok(Math.abs(top - 50) < 2 && Math.abs(height - (widths[0] ?? 0)) < 4, JSON.stringify(turned));
  assert.ok(left < 701 && left + width > 706 && left + width < 716, JSON.stringify(turned));
});

test('words that OCR has read are boxed on their pages, and a text over them is not boxed twice', async () => {
  const above = { text: lines[0] ?? '', x: 50, y: 700 };
  const below = { text: lines[1] ?? '', x: 50, y: 100 };
  const scanned = [
    [1, 48, 88, 140, 16],
    [2, 10, 20, 30, 40],
    [9, 1, 1, 1, 1],
  ] as const;
  const job = { passage: lines.join(' '), last: 2, scanned };
  const [one, two] = await pagesOf(placedPdf([[above, below], [{ text: 'Other', x: 50, y: 700 }]]), job);
  assert.deepEqual([one?.boxes.length, one?.boxes[0], two?.boxes], [2, [48, 88, 140, 16], [[10, 20, 30, 40]]]);
  assertAt(one?.boxes[1] as Box, { x: 50, y: 700, width: widths[1] ?? 0 });
});

const pictures = [
  ['png', 'palette.png'],
  ['jpg', 'turned.jpg'],
  ['tiff', 'strips.tiff'],
  ['webp', 'lossy.webp'],
] as const;

/** A PNG whose header states a size, but which has no pixels. */
function announcedPng(width: number, height: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const part = (name: string, content: Buffer) => {
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    const named = Buffer.concat([Buffer.from(name), content]);
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const none = Buffer.alloc(0);
  return Buffer.concat([signature, part('IHDR', header), part('IDAT', none), part('IEND', none)]);
}

test('PNG, JPEG, TIFF and WebP pictures are drawn as pages, and one with too many pixels fails with a reason', async () => {
  for (const [format, name] of pictures) {
    const bytes = readFileSync(new URL(`../formats/image/testing/${name}`, import.meta.url));
    const box = [1, 20, 20, 100, 40] as const;
    const plain = await pictureOf(bytes, { format });
    const marked = await pictureOf(bytes, { format, scanned: [box] });
    const [{ width = 0 } = {}] = await pagesOf(bytes, { format });
    const [x, y] = [24, 24].map((points) => Math.round((points * plain.width) / width)) as [number, number];
    assert.equal(plain.width, 600, name);
    assert.equal(pixelAt(marked, x, y)[2], Math.trunc((pixelAt(plain, x, y)[2] ?? 0) * 0.4), name);
    const colors = new Set(Array.from({ length: plain.height }, (_, row) => pixelAt(plain, 300, row).join()));
    assert.ok(colors.size > 2, `${name} is drawn`);
  }
  const large = await read(announcedPng(60_000, 60_000), { format: 'png', picture: { page: 1, width: 100 } });
  assert.deepEqual(large, { kind: 'failed', message: 'Page 1 has too many pixels to be drawn.' });
});

async function pictureOf(bytes: Uint8Array, job: Partial<PageJob>): Promise<Pixels> {
  const result = await read(bytes, { picture: { page: 1, width: 600 }, ...job });
  assert.ok(result.kind === 'read' && result.png !== null, JSON.stringify(result));
  return readPng(result.png);
}

test('the picture of a page has the wanted width, and the passage is marked in yellow with black letters', async () => {
  const bytes = textPdf([['Foxes sleep in dens.', 'Bears sleep in caves.']]);
  const plain = await pictureOf(bytes, {});
  const marked = await pictureOf(bytes, { passage: 'Foxes sleep in dens.' });
  assert.deepEqual([plain.width, plain.height, marked.width, marked.height], [600, 800, 600, 800]);
  let dark = 0;
  for (let y = 0; y < 800; y += 1) {
    for (let x = 0; x < 600; x += 1) {
      const [before, after] = [pixelAt(plain, x, y), pixelAt(marked, x, y)];
      const isInside = x > 51 && x < 145 && y > 53 && y < 61;
      const isOutside = x < 47 || x > 155 || y < 46 || y > 67;
      if (isInside)
        assert.deepEqual(after, [
          before[0],
          Math.trunc((before[1] ?? 0) * 0.9),
          Math.trunc((before[2] ?? 0) * 0.4),
          255,
        ]);
      if (isOutside) assert.deepEqual(after, before);
      if (isInside && (after[0] ?? 255) < 100) dark += 1;
    }
  }
  assert.ok(dark > 50);
});

test('the limit page_picture_pixels makes the picture of a very long page narrower', async () => {
  const long = await pictureOf(placedPdf([[{ text: 'x', x: 50, y: 700 }]], '/MediaBox [0 0 100 14000]'), {
    picture: { page: 1, width: 2400 },
  });
  assert.ok(long.width * long.height <= pageLimits.pixels && long.height > 20_000, `${long.width} × ${long.height}`);
});

test('a page that does not exist, a locked file and other bytes give a reason', async () => {
  const bytes = textPdf([['one'], ['two']]);
  assert.deepEqual(await read(bytes, { picture: { page: 3, width: 100 } }), { kind: 'no_page', numPages: 2 });
  for (const broken of [encryptedPdf('secret'), Buffer.from('%PDF-1.7 nothing'), Buffer.alloc(0)]) {
    const result = await read(broken, { picture: { page: 1, width: 100 } });
    assert.ok(result.kind === 'failed' && /^The .*\.$/.test(result.message), JSON.stringify(result));
  }
});

test('the limit page_seconds ends a request; it also ends when its caller leaves, and without the renderer', async () => {
  const bytes = textPdf([['one']]);
  const late = await read(bytes, {}, { timeoutMs: 1 });
  assert.deepEqual(late, { kind: 'failed', message: 'Reading the page exceeded the time limit of 0.001 s.' });
  assert.deepEqual(await read(bytes, {}, {}, AbortSignal.abort()), { kind: 'busy' });
  const results: string[] = [];
  const missing = await read(bytes, {}, { renderer: 'not-installed', onResult: (kind) => results.push(kind) });
  assert.deepEqual(missing, { kind: 'missing', renderer: 'not-installed' });
  assert.deepEqual(results, ['missing']);
});

test('the limit waiting_pages accepts exactly as many waiting requests and refuses one more', async () => {
  const leaving = new AbortController();
  const reader = openPageReader({ admission: createAdmission(), memoryMb: 1024, logger: createLogger('silent') });
  // The first request runs until its caller leaves.
  const open = async function* () {
    await once(leaving.signal, 'abort');
    yield Buffer.alloc(0);
  };
  const job = { format: 'pdf', passage: '', first: 1, last: 1, scanned: [], picture: null } as const;
  const request = { owner, content, job, open };
  let ended = 0;
  const count = () => {
    ended += 1;
  };
  const accepted = Array.from({ length: 1 + queues.page_pictures.waiting }, () =>
    reader.read(request, leaving.signal).then(count),
  );
  assert.deepEqual(await reader.read(request, never), { kind: 'busy' });
  assert.equal(ended, 0);
  const bytes = textPdf([['one']]);
  for (const other of [
    { projectId: 'one', keyId: 'other' },
    { projectId: 'two', keyId: null },
  ]) {
    const openOther = async function* () {
      yield bytes;
    };
    const result = await reader.read({ ...request, owner: other, open: openOther }, never);
    assert.equal(result.kind, 'read', 'a place is kept for who reads nothing');
  }
  leaving.abort();
  await Promise.all(accepted);
});

test('a page that exceeded the time limit is not drawn again at once, whatever the width of its picture', async () => {
  const reader = openPageReader({
    admission: createAdmission(),
    memoryMb: 1024,
    logger: createLogger('silent'),
    timeoutMs: 1,
  });
  let opened = 0;
  async function* open() {
    opened += 1;
    yield textPdf([['one']]);
  }
  const draw = (page: number, width: number, of = content) => {
    const job = { format: 'pdf', passage: '', first: 1, last: 1, scanned: [], picture: { page, width } } as const;
    return reader.read({ owner, content: of, job, open }, never);
  };
  const late = await draw(1, 300);
  assert.match(late.kind === 'failed' ? late.message : late.kind, /exceeded the time limit/);
  assert.deepEqual([await draw(1, 301), opened], [late, 1]);
  await draw(2, 300);
  await draw(1, 300, 'other digest');
  assert.equal(opened, 3);
});

test('an answer that no honest process sends is refused', () => {
  const page = { page: 1, width: 600, height: 800, boxes: [[1, 2, 3, 4]] };
  assert.deepEqual(checkPageAnswer({ kind: 'read', pages: [{ ...page, more: 1 }] }), { kind: 'read', pages: [page] });
  const many = Array.from({ length: pageLimits.boxes + 1 }, () => [1, 2, 3, 4]);
  for (const answer of [
    null,
    [],
    { kind: 'read' },
    { kind: 'failed' },
    { kind: 'read', pages: [null] },
    { kind: 'read', pages: [{ ...page, boxes: many }] },
    { kind: 'read', pages: [{ ...page, boxes: [[1, 2, 3]] }] },
    { kind: 'read', pages: [{ ...page, boxes: [['1', 2, 3, 4]] }] },
    { kind: 'read', pages: Array.from({ length: pageLimits.pages + 1 }, () => page) },
  ])
    assert.throws(() => checkPageAnswer(answer), TypeError, JSON.stringify(answer)?.slice(0, 80));
});
