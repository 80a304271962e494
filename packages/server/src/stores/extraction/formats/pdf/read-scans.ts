import type { Document } from '../../document.ts';
import { confidenceFloors, createOcrCounts, type OcrCounts } from '../../ocr/ocr-report.ts';
import type { ScannedWord } from '../../ocr/place-words.ts';
import { type ReadLine, readWords } from '../../ocr/read-words.ts';
import { isSendable, lowestDpi, type Ocr, ocrDpi, type Picture, type UnreadReason } from '../../ocr/recognition.ts';
import { drawPage, fittingDpi, pixelsOf, pointsPerInch } from './draw-page.ts';
import type { OpenPdf } from './open-pdf.ts';
import { findPictures } from './page-pictures.ts';
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

/** A page with fewer characters is a scan when pictures cover this share of it. */
const [fewCharacters, scanCoverage] = [100, 0.6];
/** A picture of a page may have more pixels than the page is drawn with, because PDFium reduces it. */
const mostPicturePixels = 100_000_000;

const none: Scans = { pages: new Map(), facts: {}, warnings: [] };

/**
 * Reads the scanned pages of a document by OCR, one after another. A page is scanned when it has no text but a picture
 * or a drawing, or hardly any text and pictures over most of it. What the page itself says and OCR does not find, such as
 * the value of a form field, follows the text of OCR.
 */
export async function readScans(
  pdf: OpenPdf,
  read: readonly (PageSegments | null)[],
  { ocr, onPage }: { ocr: Ocr | undefined; onPage: (percent: number) => void },
): Promise<Scans> {
  if (ocr === undefined || ocr.job.kind === 'off') return none;
  const scanned = read
    .keys()
    .filter((index) => isCandidate(read[index]))
    .toArray();
  if (ocr.job.kind === 'missing') {
    const isScanned = scanned.some(
      (index) => onOpenPage(pdf, index, (page) => isScan(pdf, page, read[index])) ?? false,
    );
    return isScanned ? { ...none, warnings: [`ocr_unavailable: ${ocr.job.remedy}`] } : none;
  }
  const { maxPages, maxPixels } = ocr.job;
  const pages = new Map<number, readonly ScannedParagraph[]>();
  const counts = createOcrCounts(ocr.job);
  let count = 0;
  for (const index of scanned) {
    const drawn = onOpenPage(pdf, index, (page) =>
      isScan(pdf, page, read[index]) ? draw(pdf, page, { maxPixels, isWithinLimit: count < maxPages }) : 'text',
    );
    if (drawn === 'text') continue;
    count += 1;
    const paragraphs = await readOne(drawn ?? 'failed', { ocr, counts, page: index + 1 });
    if (paragraphs !== undefined) pages.set(index + 1, [...paragraphs, ...missingIn(paragraphs, textOf(read[index]))]);
    onPage(Math.floor(((index + 1) * 100) / read.length));
  }
  return count === 0 ? none : { pages, facts: { ocr: counts.report() }, warnings: counts.warnings() };
}

/** @returns undefined when the page was not read */
async function readOne(
  drawn: Picture | UnreadReason,
  { ocr, counts, page }: { ocr: Ocr; counts: OcrCounts; page: number },
): Promise<ScannedParagraph[] | undefined> {
  if (typeof drawn === 'string') return void counts.unread(page, drawn);
  const recognition = await ocr.recognize(drawn);
  counts.addSeconds(recognition.seconds);
  if (recognition.kind === 'unread') return void counts.unread(page, recognition.reason);
  const { paragraphs, confidence, words } = readWords(recognition.tsv);
  if (words > 0 && confidence < confidenceFloors.read) return void counts.unread(page, 'low_confidence');
  const scanned = paragraphs.map((lines) => toParagraph(lines, pointsPerInch / drawn.dpi));
  counts.read(page, confidence, scanned.flatMap(({ lines }) => lines).join('').length);
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
  { maxPixels, isWithinLimit }: { maxPixels: number; isWithinLimit: boolean },
): Picture | UnreadReason {
  if (!isWithinLimit) return 'page_limit';
  const dpi = fittingDpi(pdf, page, { dpi: ocrDpi, maxPixels });
  if (dpi < lowestDpi || findPictures(pdf, page).largestPixels > mostPicturePixels) return 'pixel_limit';
  // A page that is narrower than a pixel is drawn one pixel wide, so it may have more pixels than its area suggests.
  if (!isSendable({ ...pixelsOf(pdf, page, dpi), dpi }, maxPixels)) return 'pixel_limit';
  return drawPage(pdf, page, dpi) ?? 'memory_limit';
}

/** Returns the texts that the paragraphs do not contain, each as a paragraph. Blanks and case do not count. */
function missingIn(paragraphs: readonly ScannedParagraph[], texts: readonly string[]): ScannedParagraph[] {
  const plain = (text: string) => text.replace(/\s/g, '').toLowerCase();
  const found = plain(paragraphs.flatMap(({ lines }) => lines).join(''));
  return texts.filter((text) => !found.includes(plain(text))).map((text) => ({ lines: [text], words: [] }));
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
