import { type CharacterList, createCharacterList } from './character-list.ts';
import type { OpenPdf } from './open-pdf.ts';
import { type AnnotationReader, withAnnotations } from './read-annotations.ts';
import { createSegmentDraft, type Segment } from './segment-draft.ts';
import { createTextProbe, type Font, type Style, type TextProbe } from './text-probe.ts';

export interface PageSegments {
  readonly width: number;
  readonly height: number;
  readonly segments: readonly Segment[];
  /** Most of the text does not run from left to right, so positions are not meaningful. */
  readonly turned: boolean;
}

export interface SegmentReader {
  /** Null when the page is broken. `index` is from 0. */
  read(index: number): PageSegments | null;
}

export function createSegmentReader(pdf: OpenPdf, annotations: AnnotationReader): SegmentReader {
  const { pdfium } = pdf;
  const buffer = pdfium.malloc(512);
  const characters = createCharacterList();

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
          const read = readText(createTextProbe(pdf, { text, buffer, fonts }), characters);
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

function readText(probe: TextProbe, characters: CharacterList): Pick<PageSegments, 'segments' | 'turned'> {
  const segments: Segment[] = [];
  const draft = createSegmentDraft(probe, characters);
  let style: Style = { bold: false, mono: false, size: 0, turned: false };
  let object = -1;
  let runs = 0;
  let turnedRuns = 0;
  let blank = false;
  let hyphen = false;

  function end(withHyphen: boolean): void {
    const segment = draft.isOpen() ? draft.finish(withHyphen) : undefined;
    if (segment !== undefined) segments.push(segment);
    blank = false;
    hyphen = false;
  }

  /** @returns whether the character is in a different run from the one before it */
  function takeStyle(at: number): boolean {
    const current = probe.object(at);
    if (current === object || current === 0) return false;
    object = current;
    style = probe.style(at, object);
    runs += 1;
    if (style.turned) turnedRuns += 1;
    return true;
  }

  function takeCharacter(code: number, at: number): void {
    const changed = takeStyle(at);
    if (draft.isOpen() && (blank || changed)) {
      if (draft.isApart(at, code, style.size)) end(false);
      else if (blank || draft.isMark(code, style.size)) draft.addBlank();
    }
    if (!draft.isOpen()) draft.begin(at);
    draft.add(code, at, style);
    blank = false;
  }

  for (let at = 0; at < probe.count; at += 1) {
    const code = probe.code(at);
    if (isSoftHyphen(code)) hyphen = true;
    else if (code === 13 || code === 10) end(hyphen);
    else {
      // After a hyphen that only breaks a word, PDFium does not report the line end.
      if (hyphen && draft.isOpen() && Math.abs(probe.baseline(at) - draft.y()) > 0.5 * style.size) end(true);
      hyphen = false;
      if (code <= 32 || code === 0xa0) blank = true;
      else takeCharacter(code, at);
    }
  }
  end(false);
  return { segments, turned: turnedRuns * 3 > runs || isVertical(segments) };
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
