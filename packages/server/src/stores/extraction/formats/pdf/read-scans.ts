import type { Document } from '../../document.ts';
import { confidenceFloors, createOcrCounts, named, type OcrCounts } from '../../ocr/ocr-report.ts';
import type { ScannedWord } from '../../ocr/place-words.ts';
import { type ReadLine, readWords } from '../../ocr/read-words.ts';
import { isSendable, lowestDpi, type Ocr, ocrDpi, type Picture, type UnreadReason } from '../../ocr/recognition.ts';
import { isGarbled } from './garbled-text.ts';
import type { OpenPdf } from './open-pdf.ts';
import { findPictures, insetPicture, type OnlyPicture, scanCoverage } from './page-pictures.ts';
import type { PageSegments } from './read-segments.ts';

/** A paragraph of a scanned page. */
export interface ScannedParagraph {
  readonly lines: readonly string[];
  /** Empty for a text of the page that OCR has not found. */
  readonly words: readonly ScannedWord[];
}

/** The text of pages that OCR has read. */
export interface Scans {
  /** The paragraphs by page, from 1. */
  readonly pages: ReadonlyMap<number, readonly ScannedParagraph[]>;
  readonly facts: Pick<Document['facts'], 'ocr'>;
  readonly warnings: readonly string[];
}

export interface ScanOptions {
  readonly ocr: Ocr | undefined;
  readonly onPage: (percent: number) => void;
  /** Pictures are enlarged, because their resolution is unknown. Default: a picture is read at its own resolution. */
  readonly isScaled?: boolean | undefined;
}

/** A page with fewer characters is a scan when pictures cover most of it. */
const fewCharacters = 100;
/** A picture of a page may have more pixels than the page is drawn with, because PDFium reduces it. */
const mostPicturePixels = 100_000_000;

const mostUnknown = 20;
/** The share of a page that a scan covers, and by how much it may be stretched in one direction. */
const wholePage = 0.98;
const mostStretched = 0.02;
/** Letters of a picture with a lower resolution are too small, and are enlarged. */
const legibleDpi = 140;

const none: Scans = { pages: new Map(), facts: {}, warnings: [] };

/**
 * Reads the scanned pages of a document by OCR, one after another. A page is scanned when it has no text but a picture
 * or a drawing, or hardly any text and pictures over most of it. A page whose text is not language is read like a scan, and
 * keeps its text unless OCR reads language. What the page itself says and OCR does not find, such as
 * the value of a form field, follows the text of OCR.
 */
export async function readScans(
  pdf: OpenPdf,
  read: readonly (PageSegments | null)[],
  options: ScanOptions,
): Promise<Scans> {
  const { ocr } = options;
  const garbled = new Set(read.flatMap((page, index) => (page !== null && isGarbledPage(page) ? [index + 1] : [])));
  const scans = await readEach(pdf, read, { ...options, garbled });
  const left = [...garbled].filter((page) => !scans.pages.has(page));
  return { ...scans, warnings: [...scans.warnings, ...describeGarbled(left, ocr), ...describeUnknown(read, scans)] };
}

function describeGarbled(pages: readonly number[], ocr: Ocr | undefined): string[] {
  if (pages.length === 0) return [];
  const remedy = ocr?.job.kind === 'on' ? 'OCR could not read them.' : 'OCR can read such pages.';
  return [
    `text_garbled: The text of these pages does not read like language; their fonts may not tell which letters they show. ${remedy} Pages ${named(pages)}.`,
  ];
}

function describeUnknown(read: readonly (PageSegments | null)[], { pages }: Scans): string[] {
  const lossy = read.flatMap((page, index) => ((page?.unknown ?? 0) > 0 && !pages.has(index + 1) ? [index + 1] : []));
  const count = lossy.reduce((sum, page) => sum + (read[page - 1]?.unknown ?? 0), 0);
  if (count === 0) return [];
  return [`glyphs_unknown: The fonts do not tell which letters ${count} glyphs are. Pages ${named(lossy)}.`];
}

async function readEach(
  pdf: OpenPdf,
  read: readonly (PageSegments | null)[],
  { ocr, onPage, isScaled = false, garbled }: ScanOptions & { readonly garbled: ReadonlySet<number> },
): Promise<Scans> {
  if (ocr === undefined || ocr.job.kind === 'off') return none;
  const scanned = read
    .keys()
    .filter((index) => garbled.has(index + 1) || isCandidate(read[index]))
    .toArray();
  if (ocr.job.kind === 'missing') {
    const isScanned = scanned.some(
      (index) => !garbled.has(index + 1) && (onOpenPage(pdf, index, (page) => isScan(pdf, page, read[index])) ?? false),
    );
    return isScanned ? { ...none, warnings: [`ocr_unavailable: ${ocr.job.remedy}`] } : none;
  }
  const { maxPages, maxPixels } = ocr.job;
  const pages = new Map<number, readonly ScannedParagraph[]>();
  const counts = createOcrCounts(ocr.job);
  let count = 0;
  for (const index of scanned) {
    const drawn = onOpenPage(pdf, index, (page) =>
      garbled.has(index + 1) || isScan(pdf, page, read[index])
        ? draw(pdf, page, { maxPixels, isScaled, isWithinLimit: count < maxPages })
        : 'text',
    );
    if (drawn === 'text') continue;
    count += 1;
    const paragraphs = await readOne(drawn ?? 'failed', { ocr, counts, page: index + 1 });
    if (paragraphs !== undefined && !garbled.has(index + 1))
      pages.set(index + 1, [...paragraphs, ...missingIn(paragraphs, textOf(read[index]))]);
    else if (paragraphs !== undefined && isLanguage(paragraphs)) pages.set(index + 1, paragraphs);
    onPage(Math.floor(((index + 1) * 100) / read.length));
  }
  return count === 0 ? none : { pages, facts: { ocr: counts.report() }, warnings: counts.warnings() };
}

/** @returns undefined when the page was not read */
async function readOne(
  drawn: Drawing | UnreadReason,
  { ocr, counts, page }: { ocr: Ocr; counts: OcrCounts; page: number },
): Promise<ScannedParagraph[] | undefined> {
  if (typeof drawn === 'string') return void counts.unread(page, drawn);
  const recognition = await ocr.recognize(drawn.picture);
  counts.addSeconds(recognition.seconds);
  if (recognition.kind === 'unread') return void counts.unread(page, recognition.reason, recognition.remedy);
  const { paragraphs, confidence, words } = readWords(recognition.tsv);
  if (words > 0 && confidence < confidenceFloors.read) return void counts.unread(page, 'low_confidence');
  const scanned = paragraphs.map((lines) => toParagraph(lines, drawn.pointsPerPixel));
  const characters = scanned.flatMap(({ lines }) => lines).join('').length;
  counts.read(page, { confidence, characters, languages: recognition.languages });
  return scanned;
}

function toParagraph(lines: readonly ReadLine[], scale: number): ScannedParagraph {
  const words = lines.flatMap((line, at) =>
    line.words.map(({ text, box: [left, top, width, height] }): ScannedWord => {
      return { text, line: at, box: [left * scale, top * scale, width * scale, height * scale] };
    }),
  );
  return { lines: lines.map((line) => line.text), words };
}

function draw(
  pdf: OpenPdf,
  page: number,
  { maxPixels, isWithinLimit, isScaled }: { maxPixels: number; isWithinLimit: boolean; isScaled: boolean },
): Drawing | UnreadReason {
  if (!isWithinLimit) return 'page_limit';
  const { largestPixels, only } = findPictures(pdf, page);
  if (largestPixels > mostPicturePixels) return 'pixel_limit';
  // Drawn larger, a picture is blurred, and takes longer to read.
  const isOwn = !isScaled && only !== undefined && only.dpi >= legibleDpi;
  const size = isOwn ? pixelsOfPicture(pdf, page, only) : undefined;
  const dpi = fittingDpi(pdf, page, { dpi: isOwn ? Math.min(only.dpi, ocrDpi) : ocrDpi, maxPixels });
  const drawn = size !== undefined && isSendable(size, maxPixels) ? size : { ...pixelsOf(pdf, page, dpi), dpi };
  // A page that is narrower than a pixel is drawn one pixel wide, so it may have more pixels than its area suggests.
  if (drawn.dpi < lowestDpi || !isSendable(drawn, maxPixels)) return 'pixel_limit';
  if (drawn === size && only !== undefined) insetPicture(pdf, only.object);
  const picture = drawPage(pdf, page, drawn);
  if (picture === undefined) return 'memory_limit';
  return { picture, pointsPerPixel: pdf.pdfium.FPDF_GetPageWidthF(page) / drawn.width };
}

/** @returns the size of the picture as the page shows it; undefined when it does not cover the whole page */
function pixelsOfPicture(
  { pdfium }: OpenPdf,
  page: number,
  { width, height, dpi, coverage }: OnlyPicture,
): PixelSize | undefined {
  const [pageWidth, pageHeight] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  const isAlike = (a: number, b: number) => Math.abs((a * pageHeight) / (b * pageWidth) - 1) < mostStretched;
  if (coverage < wholePage) return undefined;
  if (isAlike(width, height)) return { width, height, dpi };
  return isAlike(height, width) ? { width: height, height: width, dpi } : undefined;
}

interface Drawing {
  readonly picture: Picture;
  readonly pointsPerPixel: number;
}

type PixelSize = Omit<Picture, 'gray'>;

/** Returns the texts that the paragraphs do not contain, each as a paragraph. Blanks and case do not count. */
function missingIn(paragraphs: readonly ScannedParagraph[], texts: readonly string[]): ScannedParagraph[] {
  const plain = (text: string) => text.replace(/\s/g, '').toLowerCase();
  const found = plain(paragraphs.flatMap(({ lines }) => lines).join(''));
  return texts.filter((text) => !found.includes(plain(text))).map((text) => ({ lines: [text], words: [] }));
}

/** A page is garbled as well when its fonts do not tell most of its letters. */
function isGarbledPage(page: PageSegments): boolean {
  const texts = textOf(page);
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return page.unknown > Math.max(mostUnknown, characters / 4) || isGarbled(texts.join(' '));
}

function isLanguage(paragraphs: readonly ScannedParagraph[]): boolean {
  const text = paragraphs.flatMap(({ lines }) => lines).join(' ');
  return text.trim() !== '' && !isGarbled(text);
}

function isCandidate(page: PageSegments | null | undefined): boolean {
  return page !== null && page !== undefined && textOf(page).join('').length < fewCharacters;
}

function isScan(pdf: OpenPdf, page: number, read: PageSegments | null | undefined): boolean {
  const { isMarked, coverage } = findPictures(pdf, page);
  return textOf(read).length === 0 ? isMarked : coverage >= scanCoverage;
}

function textOf(page: PageSegments | null | undefined): string[] {
  return page?.segments.map((segment) => segment.text) ?? [];
}

/** @returns undefined when the page is broken */
function onOpenPage<T>({ pdfium, document }: OpenPdf, index: number, use: (page: number) => T): T | undefined {
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return undefined;
  try {
    return use(page);
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

const pointsPerInch = 72;
/** Keeps the whole pixels of a picture whose size in points is rounded. */
const rounding = 0.01;
/** FPDFBitmap_Gray of PDFium: one byte for each pixel. */
const grayFormat = 1;
/** FPDF_ANNOT of PDFium: annotations are drawn, too. */
const withAnnotations = 1;
const white = 0xff_ff_ff_ff;

/** Returns the resolution at which a page has at most `maxPixels`, and at most `dpi`. */
function fittingDpi({ pdfium }: OpenPdf, page: number, { dpi, maxPixels }: { dpi: number; maxPixels: number }) {
  const squareInches = (pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)) / pointsPerInch ** 2;
  return squareInches > 0 ? Math.min(dpi, Math.floor(Math.sqrt(maxPixels / squareInches))) : 0;
}

/** Returns the pixels of a page, rounded down, so that it rarely has more than its resolution allows. */
function pixelsOf({ pdfium }: Pick<OpenPdf, 'pdfium'>, page: number, dpi: number) {
  const scale = dpi / pointsPerInch;
  const pixels = (points: number) => Math.max(1, Math.floor(points * scale + rounding));
  return { width: pixels(pdfium.FPDF_GetPageWidthF(page)), height: pixels(pdfium.FPDF_GetPageHeightF(page)) };
}

/**
 * Draws an open page in shades of grey, in as many pixels as its resolution or its size tells.
 * @returns undefined when PDFium has no memory for it
 */
export function drawPage({ pdfium, memory }: OpenPdf, page: number, size: number | PixelSize): Picture | undefined {
  const { width, height, dpi } = typeof size === 'number' ? { ...pixelsOf({ pdfium }, page, size), dpi: size } : size;
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, grayFormat, 0, 0);
  if (bitmap === 0) return undefined;
  try {
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, withAnnotations);
    const stride = pdfium.FPDFBitmap_GetStride(bitmap);
    const buffer = pdfium.FPDFBitmap_GetBuffer(bitmap);
    const gray = Buffer.allocUnsafeSlow(width * height);
    for (let row = 0; row < height; row += 1)
      gray.set(new Uint8Array(memory().buffer, buffer + row * stride, width), row * width);
    return { width, height, dpi, gray };
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}
