import type { OpenPdf } from './open-pdf.ts';
import { type AnnotationReader, withAnnotations } from './read-annotations.ts';
import { countLetters, isRightToLeft, readRightToLeftLine } from './right-to-left-line.ts';
import { createSegmentDraft, type Segment } from './segment-draft.ts';
import { createStyleReader, createTextProbe, type Font, type TextProbe } from './text-probe.ts';

export interface PageSegments {
  readonly width: number;
  readonly height: number;
  readonly segments: readonly Segment[];
  /** Most of the text does not run from left to right, so positions are not meaningful. */
  readonly turned: boolean;
  /** Most letters of the page are read from right to left. */
  readonly rightToLeft: boolean;
}

export interface SegmentReader {
  /** Null when the page is broken. `index` is from 0. */
  read(index: number): PageSegments | null;
}

export function createSegmentReader(pdf: OpenPdf, annotations: AnnotationReader): SegmentReader {
  const { pdfium } = pdf;
  const buffer = pdfium.malloc(512);

  return {
    read: (index) => {
      const page = pdfium.FPDF_LoadPage(pdf.document, index);
      if (page === 0) return null;
      try {
        const text = pdfium.FPDFText_LoadPage(page);
        if (text === 0) return null;
        const width = pdfium.FPDF_GetPageWidthF(page);
        const height = pdfium.FPDF_GetPageHeightF(page);
        try {
          // Fonts are identified by address. The next page may have another font at the same address.
          const fonts = new Map<number, Font>();
          const read = readText(createTextProbe(pdf, { text, buffer, fonts }));
          return { width, height, ...read, segments: withAnnotations(read.segments, annotations.read(page)) };
        } finally {
          pdfium.FPDFText_ClosePage(text);
        }
      } finally {
        pdfium.FPDF_ClosePage(page);
      }
    },
  };
}

function readText(probe: TextProbe): Pick<PageSegments, 'segments' | 'turned' | 'rightToLeft'> {
  const segments: Segment[] = [];
  const draft = createSegmentDraft(probe);
  const styles = createStyleReader(probe);
  let blank = false;
  let hyphen = false;

  function end(withHyphen: boolean): void {
    const segment = draft.isOpen() ? draft.finish(withHyphen) : undefined;
    if (segment !== undefined) segments.push(segment);
    blank = false;
    hyphen = false;
  }

  function takeCharacter(code: number, at: number): void {
    const changed = styles.move(at);
    const { size } = styles.current();
    if (draft.isOpen() && (blank || changed)) {
      if (draft.isApart(at, size)) end(false);
      else if (blank || draft.isMark(code, size)) draft.addBlank();
      else if (draft.isPower(code, at, size)) draft.addPower();
    }
    if (!draft.isOpen()) draft.begin(at);
    draft.add(code, at, styles.current());
    blank = false;
  }

  const codes = new Int32Array(probe.count);
  for (let at = 0; at < codes.length; at += 1) codes[at] = probe.code(at);
  const letters = countLetters(codes, 0, codes.length);
  const rightToLeft = letters.rightToLeft > letters.leftToRight;

  /** Reads the line that begins here if it has letters that are read from right to left. @returns its end */
  function takeRightToLeft(from: number): number {
    const to = findLineEnd(codes, from);
    if (!codes.subarray(from, to).some(isRightToLeft)) return from;
    const line = { codes, from, to, onRightToLeftPage: rightToLeft, styles };
    for (const segment of readRightToLeftLine(probe, line)) segments.push(segment);
    return to;
  }

  let begins = letters.rightToLeft > 0;
  for (let at = 0; at < codes.length; at += 1) {
    if (begins) at = takeRightToLeft(at);
    const code = codes[at] ?? 13;
    begins = letters.rightToLeft > 0 && isLineEnd(code);
    if (isSoftHyphen(code)) hyphen = true;
    else if (isLineEnd(code)) end(hyphen);
    else {
      // After a hyphen that only breaks a word, PDFium does not report the line end.
      if (hyphen && draft.isOpen() && Math.abs(probe.baseline(at) - draft.y()) > 0.5 * styles.current().size) end(true);
      hyphen = false;
      if (code <= 32 || code === 0xa0) blank = true;
      else takeCharacter(code, at);
    }
  }
  end(false);
  return { segments, turned: styles.isTurned() || isVertical(segments), rightToLeft };
}

function isLineEnd(code: number): boolean {
  return code === 13 || code === 10;
}

function findLineEnd(codes: Int32Array, from: number): number {
  let to = from;
  while (to < codes.length && !isLineEnd(codes[to] ?? 0)) to += 1;
  return to;
}

/** PDFium represents a hyphen at the end of a line by U+FFFE or U+0002. */
function isSoftHyphen(code: number): boolean {
  return code === 0xfffe || code === 2 || code === 0xad;
}

/** Vertical lines are narrow. */
function isVertical(segments: readonly Segment[]): boolean {
  const long = segments.filter((segment) => segment.text.length > 4);
  const narrow = long.filter(({ left, right, size, text }) => right - left < 0.15 * size * text.length);
  return narrow.length * 2 > long.length;
}
