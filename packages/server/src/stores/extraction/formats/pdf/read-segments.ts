import { createLayerReader } from './hidden-layers.ts';
import type { OpenPdf } from './open-pdf.ts';
import { type AnnotationReader, withAnnotations } from './read-annotations.ts';
import { countLetters, isRightToLeft, readRightToLeftLine } from './right-to-left-line.ts';
import { createSegmentDraft, isSoftHyphen, type Segment } from './segment-draft.ts';
import { createTextObjects } from './text-objects.ts';
import { createStyleReader, createTextProbe, type Font, type TextProbe } from './text-probe.ts';
import { type Box, turnedBox, turnOf, turnTexts } from './turned-page.ts';
import { createPageLooks } from './unseen-texts.ts';

export interface PageSegments {
  readonly width: number;
  readonly height: number;
  readonly segments: readonly Segment[];
  /** Most of the text does not run from left to right, so positions are not meaningful. */
  readonly turned: boolean;
  /** Most letters of the page are read from right to left. */
  readonly rightToLeft: boolean;
  /** The number of characters whose letters the font does not tell. */
  readonly unknown: number;
  /** The number of large pictures, which hold words that are not in the text. */
  readonly pictures: number;
}

export interface SegmentReader {
  /** Null when the page is broken. `index` is from 0. */
  read(index: number): PageSegments | null;
}

export function createSegmentReader(pdf: OpenPdf, annotations: AnnotationReader): SegmentReader {
  const { pdfium } = pdf;
  const buffer = pdfium.malloc(512);
  const layers = createLayerReader(pdf);
  const objects = createTextObjects(pdf);
  const looks = createPageLooks(pdf);
  const { counts } = annotations;

  function readTexts(page: number, hiddenObjects: ReadonlySet<number>) {
    const text = objects.load(page, hiddenObjects);
    if (text === 0) return undefined;
    try {
      // Fonts are identified by address. The next page may have another font at the same address.
      return readText(createTextProbe(pdf, { text, buffer, fonts: new Map<number, Font>() }), hiddenObjects);
    } finally {
      pdfium.FPDFText_ClosePage(text);
    }
  }

  function readPage(page: number, index: number): PageSegments | null {
    const { unseen, pictures } = looks.examine(page);
    const hiddenObjects = new Set([...unseen, ...layers.hiddenObjects(page)]);
    const first = readTexts(page, hiddenObjects);
    if (first === undefined) return null;
    const own = readBox(pdf, page, buffer);
    const turn = first.quarters === 0 || own === undefined ? undefined : turnOf(first.quarters, own);
    if (turn !== undefined) turnTexts(pdf, page, turn);
    const { hidden, quarters: _, ...read } = (turn === undefined ? first : readTexts(page, hiddenObjects)) ?? first;
    const box = turn === undefined || own === undefined ? own : turnedBox(own, turn);
    const width = turn === undefined ? pdfium.FPDF_GetPageWidthF(page) : (box?.right ?? 0);
    const height = turn === undefined ? pdfium.FPDF_GetPageHeightF(page) : (box?.top ?? 0);
    const segments = onPage(read.segments, box);
    counts.hidden += hidden + lengthOf(read.segments) - lengthOf(segments);
    const shown = withAnnotations(segments, annotations.read(page, index, turn));
    return { width, height, pictures, ...read, segments: shown };
  }

  return {
    read: (index) => {
      const page = pdfium.FPDF_LoadPage(pdf.document, index);
      if (page === 0) return null;
      // PDFium orders texts by the rotation of the page, but their coordinates have none.
      const rotation = pdfium.FPDFPage_GetRotation(page);
      if (rotation !== 0) pdfium.FPDFPage_SetRotation(page, 0);
      try {
        return readPage(page, index);
      } finally {
        if (rotation !== 0) pdfium.FPDFPage_SetRotation(page, rotation);
        pdfium.FPDF_ClosePage(page);
      }
    },
  };
}

const lengthOf = (segments: readonly Segment[]) => segments.reduce((sum, { text }) => sum + text.length, 0);

/** Returns the sides of the page; undefined when they enclose nothing. */
function readBox({ pdfium, memory }: OpenPdf, page: number, buffer: number): Box | undefined {
  // The box of a parent counts only for the second call.
  const isOwn = pdfium.FPDFPage_GetMediaBox(page, buffer, buffer + 4, buffer + 8, buffer + 12) !== 0;
  if (!isOwn && pdfium.FPDF_GetPageBoundingBox(page, buffer) === 0) return undefined;
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [0, 4, 8, 12].map((at) => memory().getFloat32(buffer + at, true));
  const box = { left: Math.min(x1, x2), right: Math.max(x1, x2), bottom: Math.min(y1, y2), top: Math.max(y1, y2) };
  return box.left < box.right && box.bottom < box.top ? box : undefined;
}

/** Leaves out text that is completely outside of the page. */
function onPage(segments: readonly Segment[], box: Box | undefined): readonly Segment[] {
  if (box === undefined) return segments;
  const isOutside = ({ left, right, y, size }: Segment) =>
    right < box.left || left > box.right || y > box.top || y + size < box.bottom;
  return segments.some(isOutside) ? segments.filter((segment) => !isOutside(segment)) : segments;
}

interface PageText extends Pick<PageSegments, 'segments' | 'turned' | 'rightToLeft' | 'unknown'> {
  readonly hidden: number;
  /** The direction of most of the text, in quarter turns against the clock. */
  readonly quarters: number;
}

/** @param hiddenObjects objects whose text is not shown */
function readText(probe: TextProbe, hiddenObjects: ReadonlySet<number>): PageText {
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
      else if (blank || draft.isMark(code, at, size)) draft.addBlank();
      else if (draft.isPower(code, at, size)) draft.addPower();
    }
    if (!draft.isOpen()) draft.begin(at);
    draft.add(code, at, styles.current());
    if (ligatures.size > 0) for (const letter of ligatures.get(at) ?? []) draft.add(letter, at, styles.current());
    blank = false;
  }

  const codes = new Int32Array(probe.count);
  for (let at = 0; at < codes.length; at += 1) codes[at] = probe.code(at);
  const hidden = hiddenObjects.size === 0 ? 0 : blankOut(codes, (at) => hiddenObjects.has(probe.object(at)));
  const { unknown, ligatures } = readUnknown(codes, probe);
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
  const turned = styles.isTurned() || isVertical(segments);
  return { segments, hidden, turned, quarters: styles.quarters(), rightToLeft, unknown };
}

/**
 * Reads characters whose letters the font does not tell by the names of their glyphs. Only codes that letters of most texts do not have are
 * looked up.
 * @returns the number of those that stay unknown, and the further letters of ligatures
 */
function readUnknown(codes: Int32Array, probe: TextProbe) {
  const ligatures = new Map<number, readonly number[]>();
  let unknown = 0;
  for (const [at, code] of codes.entries()) {
    const isSuspect = code < 32 ? !isLineEnd(code) && code !== 9 : code > 127 && code < 256;
    if (!isSuspect || !probe.isUnknown(at)) continue;
    const [first, ...others] = Array.from(probe.letters(at) ?? '', (letter) => letter.codePointAt(0) ?? 0);
    codes[at] = first ?? code;
    ligatures.set(at, others);
    if (first === undefined) unknown += 1;
  }
  return { unknown, ligatures };
}

/** Replaces characters by blanks. @returns how many */
function blankOut(codes: Int32Array, isHidden: (at: number) => boolean): number {
  let count = 0;
  for (const [at, code] of codes.entries()) {
    if (code <= 32 || !isHidden(at)) continue;
    codes[at] = 32;
    count += 1;
  }
  return count;
}

function isLineEnd(code: number): boolean {
  return code === 13 || code === 10;
}

function findLineEnd(codes: Int32Array, from: number): number {
  let to = from;
  while (to < codes.length && !isLineEnd(codes[to] ?? 0)) to += 1;
  return to;
}

/** Vertical lines are narrow. */
function isVertical(segments: readonly Segment[]): boolean {
  const long = segments.filter((segment) => segment.text.length > 4);
  const narrow = long.filter(({ left, right, size, text }) => right - left < 0.15 * size * text.length);
  return narrow.length * 2 > long.length;
}
