import type { Block, Document } from '../../document.ts';
import { fileDamaged } from '../../extraction-error.ts';
import { toRanges } from '../../ocr/ocr-report.ts';
import type { Ocr } from '../../ocr/recognition.ts';
import { picturesNotRead } from '../picture-text.ts';
import { findHeadingStyles } from './heading-styles.ts';
import { createLineJoiner, type JoinedLine, type LineJoiner } from './join-lines.ts';
import { textOf, toLines } from './lines.ts';
import { type OpenPdf, openPdf, readTitle } from './open-pdf.ts';
import { readOutline } from './outline.ts';
import { findOutlineTitles } from './outline-titles.ts';
import { type AnnotationCounts, type AnnotationReader, createAnnotationReader } from './read-annotations.ts';
import { readScans, type Scans } from './read-scans.ts';
import { createSegmentReader, type PageSegments } from './read-segments.ts';
import { type PageLines, removeRunningHeads } from './running-heads.ts';
import { type PdfBlock, toBlocks } from './to-blocks.ts';

export interface PdfOptions {
  /** Receives the percentage of the pages read: first of all pages, then of the scanned pages, which `ocr` reads. */
  readonly onPage?: ((percent: number) => void) | undefined;
  readonly ocr?: Ocr | undefined;
  readonly password?: string | null;
  /** Pictures are enlarged to be read, because their resolution is unknown. */
  readonly isScaled?: boolean;
}

/**
 * Reads the text of a PDF and the structure that its layout shows.
 * @throws ExtractionError when the bytes are not PDF, need another password, or none of the pages can be read.
 */
export async function readPdf(bytes: Uint8Array, options: PdfOptions = {}): Promise<Document> {
  const { onPage = () => {}, ocr, password, isScaled } = options;
  const pdf = await openPdf(bytes, password);
  try {
    const annotations = createAnnotationReader(pdf);
    try {
      const read = readPages(pdf, annotations, onPage);
      const scans = await readScans(pdf, read, { ocr, onPage, isScaled });
      return toDocument(pdf, { read, counts: annotations.counts, scans });
    } finally {
      annotations.close();
    }
  } finally {
    pdf.close();
  }
}

interface ReadPdf {
  readonly read: readonly (PageSegments | null)[];
  readonly counts: AnnotationCounts;
  readonly scans: Scans;
}

function toDocument(pdf: OpenPdf, { read, counts, scans }: ReadPdf): Document {
  const { numPages } = pdf;
  const { laidOut, damagedPages } = layOutLines(read);
  if (numPages === 0 || damagedPages.length === numPages) throw fileDamaged('PDF', 'none of its pages can be read');
  const withText = laidOut.filter(({ page, lines }) => lines.length > 0 && !scans.pages.has(page));
  const title = readTitle(pdf);
  const outline = readOutline(pdf);
  const { pages, dropped } = removeRunningHeads(withText, { outline, title });
  const joiner = createLineJoiner(linesOf(pages, scans));
  const titles = findOutlineTitles(pages, outline);
  const styles = findHeadingStyles(pages, { outline, isOutlined: isOutlined(titles.count, numPages) });
  const typeset = pages.map((page) => ({ page: page.page, blocks: toBlocks(page, { joiner, styles, titles }) }));
  const byPage = [...typeset, ...scannedBlocks(scans, joiner)].sort((a, b) => a.page - b.page);
  const blocks = inOrder(byPage.map((page) => page.blocks));
  const withoutText = laidOut
    .filter(({ page, lines }) => (scans.pages.get(page) ?? lines).length === 0)
    .map(({ page }) => page);
  const warnings = [
    ...(pdf.pdfium.FPDF_GetXFAPacketCount(pdf.document) > 0
      ? ['xfa_form: The document contains an XFA form, which is not supported. Its fields and values are not read.']
      : []),
    ...(damagedPages.length === 0 ? [] : [`Pages that could not be read: ${abridged(damagedPages)}.`]),
    ...(withoutText.length === 0
      ? []
      : [
          `no_text_layer: These pages contain no text; they are empty or contain only images: ${abridged(withoutText)}.`,
        ]),
    ...scans.warnings,
    ...describePictures(read, scans),
  ];
  return {
    blocks,
    facts: {
      ...(title === undefined ? {} : { title }),
      pages: numPages,
      pages_without_text: withoutText.length + damagedPages.length,
      ...(counts.filled === 0 ? {} : { form_fields: counts.filled }),
      ...(counts.notes === 0 ? {} : { notes: counts.notes }),
      dropped: { running_heads: dropped, ...(counts.hidden === 0 ? {} : { hidden: counts.hidden }) },
      ...scans.facts,
    },
    warnings,
  };
}

function describePictures(read: readonly (PageSegments | null)[], scans: Scans): string[] {
  const counts = read.map((page, index) =>
    page === null || page.segments.length === 0 || scans.pages.has(index + 1) ? 0 : page.pictures,
  );
  const pages = counts.flatMap((count, index) => (count > 0 ? [index + 1] : []));
  const count = counts.reduce((sum, each) => sum + each, 0);
  return picturesNotRead(count, `Pictures beside the text of a page are not read. Pages ${abridged(pages)}.`);
}

/** Whether bookmarks name the headings: at least three, and one for ten pages. */
function isOutlined(titles: number, pages: number): boolean {
  return titles >= 3 && titles * 10 >= pages;
}

function layOutLines(read: readonly (PageSegments | null)[]): { laidOut: PageLines[]; damagedPages: number[] } {
  const laidOut: PageLines[] = [];
  const damagedPages: number[] = [];
  for (const [index, page] of read.entries()) {
    if (page === null) damagedPages.push(index + 1);
    else laidOut.push({ page: index + 1, height: page.height, lines: toLines(page) });
  }
  return { laidOut, damagedPages: damagedPages };
}

function* linesOf(pages: readonly PageLines[], scans: Scans): Generator<string> {
  for (const { lines } of pages) for (const line of lines) yield textOf(line);
  for (const paragraphs of scans.pages.values()) for (const { lines } of paragraphs) yield* lines;
}

function scannedBlocks({ pages }: Scans, joiner: LineJoiner): { page: number; blocks: PdfBlock[] }[] {
  return [...pages].map(([page, paragraphs]) => ({
    page,
    blocks: paragraphs.map(({ lines, words }) => ({
      kind: 'paragraph',
      text: joiner.join(lines.map((text, at) => withoutHyphen(text, at === lines.length - 1))),
      page,
      words,
      isNote: false,
    })),
  }));
}

/** A hyphen at the end of a scanned line breaks a word or belongs to it, as a hyphen that PDFium marks. */
function withoutHyphen(text: string, isLast: boolean): JoinedLine {
  const hyphen = !isLast && /[\p{L}\p{N}][-\u2010]$/u.test(text);
  return { text: hyphen ? text.slice(0, -1) : text, hyphen };
}

/** A paragraph that continues on the next page stays together. The notes at the foot of the page follow it. */
function inOrder(pages: readonly (readonly PdfBlock[])[]): Block[] {
  const result: PdfBlock[] = [];
  let notes: PdfBlock[] = [];
  for (const blocks of pages) {
    const last = blocks.findLastIndex((block) => !block.isNote);
    const body = blocks.slice(0, last + 1);
    const [first, ...others] = body;
    const before = result.at(-1);
    if (first !== undefined && before !== undefined && isContinued(before, first)) {
      append(result, [{ ...first, joins: true }, ...notes, ...others]);
    } else append(result, [...notes, ...body]);
    notes = blocks.slice(last + 1);
  }
  return [...result, ...notes].map(({ isNote: _, ...block }) => block);
}

/** Appends one by one, because a page may have more blocks than a call may have arguments. */
function append(result: PdfBlock[], blocks: readonly PdfBlock[]): void {
  for (const block of blocks) result.push(block);
}

function isContinued(before: PdfBlock, first: PdfBlock): boolean {
  const isText = first.kind === 'paragraph' && (before.kind === 'paragraph' || before.kind === 'list_item');
  return isText && !/[.!?。！？:：]["”»)]?$/.test(before.text) && /^[\p{Ll}\p{Lo}\p{N}(]/u.test(first.text);
}

/** Lists pages in ranges, such as "2-4, 7". At most 40 ranges are listed. */
function abridged(pages: readonly number[]): string {
  const ranges = toRanges(pages);
  const shown = ranges.slice(0, mostRanges).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  const rest = ranges.slice(mostRanges).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`;
}
const mostRanges = 40;

/**
 * Reads all pages in order and reports the percentage read after each page.
 * @returns one entry for each page; null stands for a page that is broken.
 */
function readPages(
  pdf: OpenPdf,
  annotations: AnnotationReader,
  onPage: (percent: number) => void,
): (PageSegments | null)[] {
  const { numPages } = pdf;
  const reader = createSegmentReader(pdf, annotations);
  return Array.from({ length: numPages }, (_, index) => {
    const page = reader.read(index);
    onPage(Math.floor(((index + 1) * 100) / numPages));
    return page;
  });
}
