import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { corpusFolder } from '../../../../../../test/support/corpus.ts';
import { splitByStructure } from '../chunking/structure-splitter.ts';
import { type Document, layOut } from '../document.ts';
import { readDocument } from '../formats/read-document.ts';
import { scannedPdf } from '../formats/testing/scanned-pdf.fixture.ts';
import type { Box, ScanBox } from '../page-protocol.ts';
import { type PopplerPage, readWithPoppler, simplify } from '../pages/testing/poppler-words.fixture.ts';
import { never } from '../worker/testing/extractor.fixture.ts';
import { openTestOcr } from './testing/ocr.fixture.ts';

/*
 * Poppler draws pages of the tuning half at 300 pixels per inch, OCR reads the pictures, and the places of the words are
 * compared with those that `pdftotext -bbox` of poppler names for the original pages.
 */
const pages: readonly (readonly [path: string, pages: readonly number[]])[] = [
  ['pdf/deb__debian-policy__policy.pdf', [41]],
  ['pdf/docling__code_and_formula.pdf', [1]],
  ['pdf/docling__text_document_01.odt.pdf', [1]],
  ['pdf/pypdf-samples__google-doc-document.pdf', [1]],
  ['pdf/docling__bookmark_sample.pdf', [2]],
];
/** Enough for the other kinds of pages, because OCR takes seconds for each. */
const fewPages: typeof pages = [
  ['pdf/deb__debian-policy__policy.pdf', [101]],
  ['pdf/docling__text_document_01.odt.pdf', [1]],
];

interface Kind {
  readonly format: string;
  /** The option of `pdftoppm`. */
  readonly option: string;
  readonly isTurned: boolean;
  readonly pages: typeof pages;
  build(picture: Buffer): Buffer;
}

const same = (picture: Buffer) => picture;
const pdfFrom = { format: 'pdf', option: '-gray' };
const kinds: Readonly<Record<string, Kind>> = {
  'an upright page': { ...pdfFrom, isTurned: false, pages, build: (pgm) => scannedPdf([{ picture: readPgm(pgm) }]) },
  'a page whose picture lies on its side': {
    ...pdfFrom,
    isTurned: true,
    pages: fewPages,
    build: (pgm) => scannedPdf([{ picture: turn(readPgm(pgm)) }]),
  },
  'a page that the viewer turns': {
    ...pdfFrom,
    isTurned: true,
    pages: fewPages,
    build: (pgm) => scannedPdf([{ picture: readPgm(pgm), rotate: 90 }]),
  },
  'a PNG': { format: 'png', option: '-png', isTurned: false, pages: fewPages, build: same },
  'a JPEG': { format: 'jpg', option: '-jpeg', isTurned: false, pages: fewPages, build: same },
  'a TIFF': { format: 'tiff', option: '-tiff', isTurned: false, pages: fewPages, build: same },
};

for (const [name, kind] of Object.entries(kinds)) {
  test(`the words of ${name} are boxed where poppler has them`, async (t) => {
    const sums = { words: 0, same: 0, overlapping: 0, boxed: 0, right: 0, wanted: 0 };
    for (const [path, numbers] of kind.pages) {
      const truth = readWithPoppler(path);
      for (const number of numbers) {
        const page = truth[number - 1];
        assert.ok(page !== undefined);
        const document = await read(kind, draw(kind, path, number));
        const counts = compare(document, kind.isTurned ? turned(page) : page);
        for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += counts[key];
        t.diagnostic(`${path} ${number}: ${JSON.stringify(counts)}`);
      }
    }
    t.diagnostic(`${name}: ${JSON.stringify(sums)}`);
    assert.ok(sums.words > 400 && sums.same >= 0.95 * sums.words);
    assert.ok(sums.overlapping >= 0.98 * sums.same, 'the box of a word covers the word');
    assert.ok(sums.right >= 0.97 * sums.boxed, 'what the boxes of a passage hold belongs to the passage');
    assert.ok(sums.right >= 0.95 * sums.wanted, 'the passage is in its boxes');
  });
}

/** @returns counts of words of poppler, and of letters of passages */
function compare(document: Document, page: PopplerPage) {
  const read = document.blocks.flatMap(({ words = [] }) =>
    words.map((word) => ({ ...word, text: simplify(word.text) })),
  );
  const words = page.words.filter(({ text }) => text !== '');
  const equal = words.filter(({ text }) => read.some((word) => word.text === text));
  const overlapping = equal.filter(({ text, box }) =>
    read.some((word) => word.text === text && overlap(word.box, box) >= 0.5 * area(word.box)),
  );
  const { text, blocks, boxesOf } = layOut(document);
  const counts = { boxed: 0, right: 0, wanted: 0 };
  for (const { start, end } of splitByStructure(text, blocks, 60)) {
    const letters = simplify(text.slice(start, end));
    const boxes = boxesOf(start, end);
    const held = words.filter(({ box }) => boxes.some((one) => holdsMiddle(one, box)));
    counts.wanted += letters.length;
    counts.boxed += lengthOf(held);
    counts.right += lengthOf(held.filter((word) => letters.includes(word.text)));
  }
  return { words: words.length, same: equal.length, overlapping: overlapping.length, ...counts };
}

function lengthOf(words: readonly { readonly text: string }[]): number {
  return words.reduce((sum, { text }) => sum + text.length, 0);
}

function area([, , width, height]: Box): number {
  return width * height;
}

function overlap(a: Box, b: Box): number {
  const width = Math.min(a[0] + a[2], b[0] + b[2]) - Math.max(a[0], b[0]);
  const height = Math.min(a[1] + a[3], b[1] + b[3]) - Math.max(a[1], b[1]);
  return Math.max(0, width) * Math.max(0, height);
}

function holdsMiddle([, left, top, width, height]: ScanBox, box: Box): boolean {
  const [x, y] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
  return x >= left && x <= left + width && y >= top && y <= top + height;
}

async function read({ format }: Kind, bytes: Buffer): Promise<Document> {
  const { job, openSession } = await openTestOcr();
  const session = openSession();
  return readDocument({ format, bytes, ocr: { job, recognize: (picture) => session.recognize(picture, never) } });
}

/** Draws a page with poppler. Its writer of TIFF files needs a file. */
function draw({ option, build }: Kind, path: string, page: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'drawn-page-'));
  try {
    const range = ['-f', `${page}`, '-l', `${page}`];
    execFileSync(
      '/usr/bin/pdftoppm',
      ['-cropbox', '-r', '300', option, ...range, '-singlefile', path, join(folder, 'page')],
      { cwd: corpusFolder },
    );
    const [name = ''] = readdirSync(folder);
    return build(readFileSync(join(folder, name)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Gray {
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
  readonly gray: Uint8Array;
}

function readPgm(bytes: Buffer): Gray {
  const [, width = 0, height = 0] = (/^P5\n(\d+) (\d+)\n255\n/.exec(bytes.toString('latin1', 0, 40)) ?? []).map(Number);
  return { width, height, dpi: 300, gray: bytes.subarray(bytes.length - width * height) };
}

/** Turns a picture clockwise. */
function turn({ width, height, dpi, gray }: Gray): Gray {
  const result = new Uint8Array(gray.length);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) result[x * height + height - 1 - y] = gray[y * width + x] ?? 255;
  return { width: height, height: width, dpi, gray: result };
}

function turned({ width, height, words }: PopplerPage): PopplerPage {
  const turnBox = ([left, top, w, h]: Box): Box => [height - top - h, left, h, w];
  return { width: height, height: width, words: words.map(({ text, box }) => ({ text, box: turnBox(box) })) };
}
