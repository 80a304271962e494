import type { OpenPdf } from '../formats/pdf/open-pdf.ts';
import { type Box, type PageBoxes, type PageJob, pageLimits } from '../page-protocol.ts';
import { findPassage, type Letters, lettersOf } from './find-passage.ts';

/**
 * Finds the places of the passage on its pages: in their text, and where OCR has read it. Broken pages are omitted.
 */
export function locateOnPages(pdf: OpenPdf, { passage, first, last, scanned }: Omit<PageJob, 'format'>): PageBoxes[] {
  const opened: PageText[] = [];
  try {
    let letters = 0;
    const end = Math.min(last, pdf.numPages, first + pageLimits.pages - 1);
    for (let page = first; page <= end && letters < pageLimits.letters; page += 1) {
      const text = openPageText(pdf, page, pageLimits.letters - letters);
      if (text === undefined) continue;
      opened.push(text);
      letters += text.letters.text.length;
    }
    return withScanned(findBoxes(opened, passage), scanned);
  } finally {
    for (const page of opened) page.close();
  }
}

function findBoxes(pages: readonly PageText[], passage: string): PageBoxes[] {
  const wanted = lettersOf(codePointsOf(passage), pageLimits.letters).text;
  const runs = findPassage(wanted, pages.map(({ letters }) => letters.text).join(''));
  const marked = new Uint8Array(pages.reduce((sum, { letters }) => sum + letters.text.length, 0));
  for (const { start, length } of runs) marked.fill(1, start, start + length);
  let from = 0;
  let left: number = pageLimits.boxes;
  return pages.map((each) => {
    const { page, width, height, letters } = each;
    const places = new Set(letters.places.filter((_, at) => marked[from + at] === 1));
    from += letters.text.length;
    const boxes = each.boxesOf(places).slice(0, left);
    left -= boxes.length;
    return { page, width, height, boxes };
  });
}

/** Adds the boxes of OCR. They replace those of a text that lies over the picture and that OCR has read, too. */
function withScanned(pages: readonly PageBoxes[], scanned: PageJob['scanned']): PageBoxes[] {
  let left: number = pageLimits.boxes;
  return pages.map((page) => {
    const read = scanned.flatMap(([number, ...box]): Box[] => (number === page.page ? [box] : []));
    const others = page.boxes.filter((box) => !read.some((one) => isMiddleIn(one, box)));
    const boxes = [...read, ...others].slice(0, left);
    left -= boxes.length;
    return { ...page, boxes };
  });
}

function isMiddleIn([left, top, width, height]: Box, box: Box): boolean {
  const [x, y] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
  return x >= left && x <= left + width && y >= top && y <= top + height;
}

function* codePointsOf(text: string): Generator<number> {
  for (const character of text) yield character.codePointAt(0) ?? 0;
}

/** An open page with its text. */
interface PageText {
  readonly page: number;
  /** In points, as the page is shown. */
  readonly width: number;
  readonly height: number;
  readonly letters: Letters;
  /** The places of characters, in their order, as one box for each line. */
  boxesOf(places: Iterable<number>): Box[];
  close(): void;
}

/** The parts of a point that a place is measured in. */
const precision = 100;

/** @returns undefined when the page is broken. `number` counts from 1. */
function openPageText(pdf: OpenPdf, number: number, mostLetters: number): PageText | undefined {
  const { pdfium } = pdf;
  const page = pdfium.FPDF_LoadPage(pdf.document, number - 1);
  if (page === 0) return undefined;
  const text = pdfium.FPDFText_LoadPage(page);
  const buffer = pdfium.malloc(16);
  const [width, height] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  const size = [Math.round(width * precision), Math.round(height * precision)] as const;

  function* codes(): Generator<number> {
    const count = text === 0 ? 0 : pdfium.FPDFText_CountChars(text);
    for (let at = 0; at < count; at += 1) yield pdfium.FPDFText_GetUnicode(text, at);
  }

  /** Takes the rotation and the crop box of the page into account. */
  function toShown(x: number, y: number): readonly [number, number] {
    pdfium.FPDF_PageToDevice(page, 0, 0, ...size, 0, x, y, buffer, buffer + 4);
    const view = pdf.memory();
    return [view.getInt32(buffer, true) / precision, view.getInt32(buffer + 4, true) / precision];
  }

  function cornersOf(place: number): Corners | undefined {
    if (pdfium.FPDFText_GetLooseCharBox(text, place, buffer) === 0) return undefined;
    const view = pdf.memory();
    const [left, top, right, bottom] = [0, 4, 8, 12].map((at) => view.getFloat32(buffer + at, true)) as [
      number,
      number,
      number,
      number,
    ];
    if (![left, top, right, bottom].every((side) => Math.abs(side) < 1e6)) return undefined;
    const [one, other] = [toShown(left, top), toShown(right, bottom)];
    return {
      left: Math.min(one[0], other[0]),
      top: Math.min(one[1], other[1]),
      right: Math.max(one[0], other[0]),
      bottom: Math.max(one[1], other[1]),
    };
  }

  return {
    page: number,
    width,
    height,
    letters: lettersOf(codes(), mostLetters),
    boxesOf: (places) => joinLines(places, cornersOf),
    close: () => {
      pdfium.free(buffer);
      if (text !== 0) pdfium.FPDFText_ClosePage(text);
      pdfium.FPDF_ClosePage(page);
    },
  };
}

interface Line extends Corners {
  /** Undefined for a single character. */
  isColumn: boolean | undefined;
}

interface Corners {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A wider gap than this multiple of the height begins another box, such as that of the next column. */
const widestGap = 3;

function joinLines(places: Iterable<number>, cornersOf: (place: number) => Corners | undefined): Box[] {
  const lines: Line[] = [];
  for (const place of places) {
    const corners = cornersOf(place);
    if (corners === undefined) continue;
    const line = lines.at(-1);
    const direction = line === undefined ? undefined : directionTo(line, corners);
    if (line === undefined || direction === undefined) {
      lines.push({ ...corners, isColumn: undefined });
      continue;
    }
    line.isColumn = direction === 'below';
    line.left = Math.min(line.left, corners.left);
    line.top = Math.min(line.top, corners.top);
    line.right = Math.max(line.right, corners.right);
    line.bottom = Math.max(line.bottom, corners.bottom);
  }
  const round = (value: number) => Math.round(value * precision) / precision;
  return lines.map(({ left, top, right, bottom }) => [
    round(left),
    round(top),
    round(right - left),
    round(bottom - top),
  ]);
}

/**
 * Characters of a line are side by side, and those of a turned or vertical line are one below the other.
 * @returns undefined for a character of another line
 */
function directionTo(line: Line, next: Corners): 'beside' | 'below' | undefined {
  const [height, width] = [next.bottom - next.top, next.right - next.left];
  const overlap = Math.min(line.bottom, next.bottom) - Math.max(line.top, next.top);
  const gap = Math.max(next.left - line.right, line.left - next.right);
  const isBeside = overlap > 0.5 * Math.min(height, line.bottom - line.top) && gap < widestGap * height;
  if (line.isColumn !== true && isBeside) return 'beside';
  const across = Math.min(line.right, next.right) - Math.max(line.left, next.left);
  const distance = Math.max(next.top - line.bottom, line.top - next.bottom);
  const isBelow = across > 0.5 * Math.min(width, line.right - line.left) && distance < widestGap * width;
  // The first letter of a line is not above that of the next line, because letters of a column are close together.
  const isClose = line.isColumn === true || distance < 0.1 * width;
  return line.isColumn !== false && isBelow && isClose ? 'below' : undefined;
}
