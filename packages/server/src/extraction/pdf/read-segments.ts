import { correctArabic, withoutLigatures } from './arabic.ts';
import type { OpenPdf, Pdfium } from './open-pdf.ts';

/** A piece of a line without a wide gap in it, in the order of the file, which is that of reading nearly always. */
export interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** The baseline; in points from the bottom of the page, like all measures of a PDF. */
  readonly y: number;
  /** Of most of its characters. */
  readonly size: number;
  readonly bold: boolean;
  readonly mono: boolean;
  /** PDFium saw the line end behind it, with a hyphen that only breaks a word. */
  readonly hyphen: boolean;
}

export interface PageSegments {
  readonly width: number;
  readonly height: number;
  readonly segments: readonly Segment[];
  /** Most of the text runs in another direction than from left to right: positions say nothing. */
  readonly turned: boolean;
}

interface Font {
  readonly bold: boolean;
  readonly mono: boolean;
}

/** Wider than so many times the size of the letters: not a blank between words, but another cell or column. */
const wideGap = 1.15;

export interface SegmentReader {
  /** Null when the page is broken. `index` is from 0. */
  read(index: number): PageSegments | null;
}

export function createSegmentReader(pdf: OpenPdf): SegmentReader {
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
          return { width, height, ...readPage(pdf, text, buffer) };
        } finally {
          pdfium.FPDFText_ClosePage(text);
        }
      } finally {
        pdfium.FPDF_ClosePage(page);
      }
    },
  };
}

/** What is known of the piece being put together. */
interface Draft {
  readonly codes: number[];
  /** Their indices in the text of the page; -1 for a blank. */
  readonly places: number[];
  rightToLeft: boolean;
  left: number;
  right: number;
  y: number;
  sizes: Map<number, number>;
  bold: number;
  mono: number;
}

function readPage(pdf: OpenPdf, text: number, buffer: number): Pick<PageSegments, 'segments' | 'turned'> {
  const { pdfium } = pdf;
  const fonts = new Map<number, Font>();
  const segments: Segment[] = [];
  const count = pdfium.FPDFText_CountChars(text);
  let draft: Draft | undefined;
  let object = -1;
  let font: Font = { bold: false, mono: false };
  let size = 0;
  let turnedObjects = 0;
  let objects = 0;
  let blank = false;
  let hyphen = false;

  function box(at: number): readonly [left: number, right: number] {
    pdfium.FPDFText_GetLooseCharBox(text, at, buffer);
    const memory = pdf.memory();
    return [memory.getFloat32(buffer, true), memory.getFloat32(buffer + 8, true)];
  }

  function baseline(at: number): number {
    pdfium.FPDFText_GetCharOrigin(text, at, buffer, buffer + 8);
    return pdf.memory().getFloat64(buffer + 8, true);
  }

  /** Takes in the last character; those between it and the first need not be asked. */
  function measure(current: Draft): void {
    const [left, right] = box(current.places.at(-1) ?? 0);
    current.left = Math.min(current.left, left);
    current.right = Math.max(current.right, right);
  }

  function end(withHyphen: boolean): void {
    if (draft !== undefined) {
      measure(draft);
      const segment = finish(draft, {
        hyphen: withHyphen,
        leftOf: (place) => (place < 0 ? Number.NaN : box(place)[0]),
      });
      if (segment !== undefined) segments.push(segment);
    }
    draft = undefined;
    blank = false;
    hyphen = false;
  }

  for (let at = 0; at < count; at += 1) {
    const code = pdfium.FPDFText_GetUnicode(text, at);
    if (code === 0xfffe || code === 2 || code === 0xad) {
      hyphen = true;
      continue;
    }
    if (code === 13 || code === 10) {
      end(hyphen);
      continue;
    }
    // Behind a hyphen that only breaks a word, PDFium does not say that the line ends.
    if (hyphen && draft !== undefined && Math.abs(baseline(at) - draft.y) > 0.5 * size) end(true);
    hyphen = false;
    if (code <= 32 || code === 0xa0) {
      blank = true;
      continue;
    }
    const current = pdfium.FPDFText_GetTextObject(text, at);
    const changed = current !== object && current !== 0;
    if (changed) {
      object = current;
      size = sizeOf(pdfium, text, at);
      font = fontOf(pdf, { fonts, object, buffer });
      objects += 1;
      if (Math.abs(Math.sin(pdfium.FPDFText_GetCharAngle(text, at))) > 0.3) turnedObjects += 1;
    }
    if (draft !== undefined && (blank || changed)) {
      measure(draft);
      const [left, right] = box(at);
      const gap = Math.max(left - draft.right, draft.left - right);
      const isWide = gap > (draft.rightToLeft ? 4 : 1) * wideGap * Math.max(size, 1) && !isRightToLeft(code);
      if (isWide || Math.abs(baseline(at) - draft.y) > 0.9 * size) end(false);
      else if (blank || isRaised(draft, code, size)) add(draft, 32, -1);
    }
    draft ??= begin(box(at), baseline(at));
    add(draft, code, at);
    draft.rightToLeft ||= isRightToLeft(code);
    draft.sizes.set(size, (draft.sizes.get(size) ?? 0) + 1);
    if (font.bold) draft.bold += 1;
    if (font.mono) draft.mono += 1;
    blank = false;
  }
  end(false);
  return { segments, turned: turnedObjects * 3 > objects || isVertical(segments) };
}

/** Lines that run from top to bottom take little room across. */
function isVertical(segments: readonly Segment[]): boolean {
  const long = segments.filter((segment) => segment.text.length > 4);
  const narrow = long.filter(({ left, right, size, text }) => right - left < 0.15 * size * text.length);
  return narrow.length * 2 > long.length;
}

function begin([left, right]: readonly [number, number], y: number): Draft {
  return { codes: [], places: [], rightToLeft: false, left, right, y, sizes: new Map(), bold: 0, mono: 0 };
}

function add(draft: Draft, code: number, place: number): void {
  draft.codes.push(code);
  draft.places.push(place);
}

function finish(draft: Draft, { hyphen, leftOf }: { hyphen: boolean; leftOf: (place: number) => number }) {
  const string = String.fromCodePoint(...draft.codes.map((code) => (code <= 0x10ffff ? code : 0xfffd)));
  const text = draft.rightToLeft
    ? correctArabic([...string], (index) => leftOf(draft.places[index] ?? -1))
    : withoutLigatures(string);
  if (text.trim() === '') return undefined;
  const [size] = [...draft.sizes].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  const { left, right, y, codes } = draft;
  const half = codes.length / 2;
  return { text, left, right, y, size, bold: draft.bold > half, mono: draft.mono > half, hyphen };
}

/** The mark of a footnote behind a word, which is no part of the word. */
function isRaised(draft: Draft, code: number, size: number): boolean {
  const [usual = 0] = [...draft.sizes.keys()];
  const last = draft.codes.at(-1) ?? 0;
  const before = draft.codes.at(-2) ?? 0;
  return code >= 48 && code <= 57 && size < 0.8 * usual && isLetter(last) && isLetter(before);
}

function isLetter(code: number): boolean {
  return code > 64 && /\p{L}/u.test(String.fromCodePoint(code));
}

function isRightToLeft(code: number): boolean {
  return (code >= 0x590 && code <= 0x8ff) || (code >= 0xfb1d && code <= 0xfdff) || (code >= 0xfe70 && code <= 0xfeff);
}

function sizeOf(pdfium: Pdfium, text: number, at: number): number {
  const size = Math.abs(pdfium.FPDFText_GetFontSize(text, at));
  return Math.round(size * 10) / 10;
}

function fontOf(
  { pdfium, memory }: OpenPdf,
  { fonts, object, buffer }: { fonts: Map<number, Font>; object: number; buffer: number },
): Font {
  const handle = pdfium.FPDFTextObj_GetFont(object);
  const known = fonts.get(handle);
  if (known !== undefined) return known;
  const length = handle === 0 ? 0 : Math.min(pdfium.FPDFFont_GetBaseFontName(handle, buffer, 512), 512);
  const { buffer: bytes } = memory();
  const name = Buffer.from(bytes, buffer, Math.max(0, length - 1)).toString('latin1');
  const font = {
    bold:
      /bold|black|heavy|semibold|demi|cmbx|\bcsc/i.test(name) ||
      (handle !== 0 && pdfium.FPDFFont_GetWeight(handle) >= 700),
    mono: /mono|courier|consol|menlo|typewriter|cmtt|lmtt|tt\d+$|code/i.test(name),
  };
  fonts.set(handle, font);
  return font;
}
