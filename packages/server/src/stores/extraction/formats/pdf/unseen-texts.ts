import { drawSmall, paint } from './drawn-page.ts';
import type { OpenPdf } from './open-pdf.ts';
import { kinds, sizeOf } from './text-objects.ts';

/** What people see of the objects of a page. */
export interface PageLook {
  /** Text objects that people do not see, although a program reads them. */
  readonly unseen: ReadonlySet<number>;
  /** The number of large pictures without a text over them. */
  readonly pictures: number;
}

export interface PageLooks {
  /** Examines an open page. The colours of its text are not those of the file afterwards. */
  examine(page: number): PageLook;
}

type Sides = readonly [left: number, bottom: number, right: number, top: number];

interface Found {
  readonly object: number;
  /** Undefined within a drawing, which has its own coordinates. */
  readonly sides: Sides | undefined;
}

/** The objects of a page by their kind. */
interface Objects {
  readonly invisible: Found[];
  readonly white: Found[];
  readonly tiny: Found[];
  /** The places of texts. */
  readonly texts: Sides[];
  readonly pictures: Sides[];
  /** What gives the paper another colour: pictures, drawings and dark areas. */
  readonly marks: Sides[];
  readonly lines: Sides[];
  /** The number of drawings, which are marks, too, and of what they hold beside text. */
  readonly drawings: { all: number; inside: number };
}

const modes = { fill: 0, invisible: 3 } as const;
const limits = { objects: 20_000, depth: 4, examined: 500, drawings: 40, groups: 8 };
/** People do not see text on white paper if each colour has at least this value, or if its opacity is below this value. */
const whiteFrom = 245;
const leastOpacity = 8;
/** In points. Pages of this height and more are not enlarged to be read. */
const smallest = 2;
const leastPage = 200;
/** A picture that covers a smaller share of the page rarely contains words. */
const leastShare = 0.05;
const leastSide = 60;
/** A picture with more texts over it is the background of the page, or a scan whose text is known. */
const mostTextsOver = 2;

/**
 * Text is not seen if it is invisible or white and nothing lies below it, or smaller than letters can be. The text of OCR is invisible, too, but a
 * picture of it lies below. The page is drawn with and without white text to compare both.
 */
export function createPageLooks(pdf: OpenPdf): PageLooks {
  const { pdfium } = pdf;
  const buffer = pdfium.malloc(32);
  let drawings = 0;

  function whiteOf(page: number, candidates: readonly Found[]): number[] {
    const size = Math.ceil(candidates.length / limits.groups);
    const unseen: number[] = [];
    if (candidates.length === 0 || drawings >= limits.drawings) return unseen;
    let before = drawSmall(pdf, page);
    for (let at = 0; at < candidates.length; at += size) {
      const group = candidates.slice(at, at + size).map(({ object }) => object);
      paint(pdf, group, { shade: 255, opacity: 0 });
      const after = drawSmall(pdf, page);
      drawings += 1;
      if (isAlike(before, after)) for (const object of group) unseen.push(object);
      before = after;
    }
    return unseen;
  }

  return {
    examine: (page) => {
      const { invisible, white, tiny, ...others } = findObjects(pdf, page, buffer);
      const { lines } = others;
      const candidates = white.filter(({ sides }) => isBare(sides, others)).slice(0, limits.examined);
      const hidden = invisible.filter(({ sides }) => isBare(sides, others) && !isDrawn(sides, lines));
      const unseen = [...tiny, ...hidden].map(({ object }) => object);
      return {
        unseen: new Set([...unseen, ...whiteOf(page, candidates)]),
        pictures: countPictures(others, pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)),
      };
    },
  };
}

function findObjects(pdf: OpenPdf, page: number, buffer: number): Objects {
  const { pdfium, memory } = pdf;
  const found: Objects = {
    invisible: [],
    white: [],
    tiny: [],
    texts: [],
    pictures: [],
    marks: [],
    lines: [],
    drawings: { all: 0, inside: 0 },
  };
  const isLarge = pdfium.FPDF_GetPageHeightF(page) >= leastPage;
  let left = limits.objects;

  function sidesOf(object: number): Sides | undefined {
    if (pdfium.FPDFPageObj_GetBounds(object, buffer, buffer + 4, buffer + 8, buffer + 12) === 0) return undefined;
    const view = memory();
    const side = (at: number) => view.getFloat32(buffer + at, true);
    return [side(0), side(4), side(8), side(12)];
  }

  /** The colour is white for a pattern, too. */
  function isWhite(object: number): boolean {
    if (pdfium.FPDFPageObj_GetFillColor(object, buffer, buffer + 4, buffer + 8, buffer + 12) === 0) return false;
    const view = memory();
    const part = (at: number) => view.getUint32(buffer + at, true);
    return part(12) < leastOpacity || Math.min(part(0), part(4), part(8)) >= whiteFrom;
  }

  function takeText(object: number, isInside: boolean): void {
    const sides = isInside ? undefined : sidesOf(object);
    if (sides !== undefined) found.texts.push(sides);
    const mode = pdfium.FPDFTextObj_GetTextRenderMode(object);
    if (mode === modes.invisible) found.invisible.push({ object, sides });
    else if (mode === modes.fill && isWhite(object)) found.white.push({ object, sides });
    else if (isLarge && sides !== undefined && isTiny(sides) && sizeOf(pdf, object, buffer) < smallest)
      found.tiny.push({ object, sides });
  }

  function takeInside(form: number, depth: number): boolean {
    let hasImage = false;
    const count = depth > limits.depth ? 0 : pdfium.FPDFFormObj_CountObjects(form);
    for (let at = 0; at < count && left > 0; at += 1) {
      left -= 1;
      const object = pdfium.FPDFFormObj_GetObject(form, at);
      const kind = pdfium.FPDFPageObj_GetType(object);
      if (kind === kinds.text) takeText(object, true);
      else if (kind === kinds.form) hasImage = takeInside(object, depth + 1) || hasImage;
      else {
        found.drawings.inside += 1;
        hasImage ||= kind === kinds.image;
      }
    }
    return hasImage;
  }

  function takePath(object: number): void {
    const sides = sidesOf(object);
    if (sides === undefined) return;
    pdfium.FPDFPath_GetDrawMode(object, buffer, buffer + 4);
    const isFilled = memory().getInt32(buffer, true) !== 0;
    if (isFilled && !isWhite(object)) found.marks.push(sides);
    else found.lines.push(sides);
  }

  const count = pdfium.FPDFPage_CountObjects(page);
  for (let at = 0; at < count && left > 0; at += 1) {
    left -= 1;
    const object = pdfium.FPDFPage_GetObject(page, at);
    const kind = pdfium.FPDFPageObj_GetType(object);
    if (kind === kinds.text) takeText(object, false);
    else if (kind === kinds.path) takePath(object);
    else {
      const sides = sidesOf(object) ?? [0, 0, 0, 0];
      const isPicture = kind === kinds.image || (kind === kinds.form && takeInside(object, 1));
      if (isPicture) found.pictures.push(sides);
      if (kind === kinds.form) found.drawings.all += 1;
      found.marks.push(sides);
    }
  }
  return found;
}

const isTiny = ([left, bottom, right, top]: Sides) => Math.min(right - left, top - bottom) < smallest;

function meet([left, bottom, right, top]: Sides, other: Sides): boolean {
  return left < other[2] && right > other[0] && bottom < other[3] && top > other[1];
}

/** Whether nothing that people see lies at the place of a text. Within a drawing, anything on the page may lie there. */
function isBare(sides: Sides | undefined, { marks, drawings }: Pick<Objects, 'marks' | 'drawings'>): boolean {
  if (sides === undefined) return marks.length === drawings.all && drawings.inside === 0;
  return marks.length <= limits.examined * 4 && !marks.some((mark) => meet(sides, mark));
}

/** Whether lines of the height of letters are at the place of a text: they may draw its letters. */
function isDrawn(sides: Sides | undefined, lines: readonly Sides[]): boolean {
  if (sides === undefined) return lines.length > 0;
  const most = 3 * (sides[3] - sides[1]);
  return lines.some((line) => line[3] - line[1] < most && meet(sides, line));
}

function countPictures({ pictures, texts }: Pick<Objects, 'pictures' | 'texts'>, area: number): number {
  return pictures.filter((picture) => {
    const [left, bottom, right, top] = picture;
    const [width, height] = [right - left, top - bottom];
    if (width * height < leastShare * area || Math.min(width, height) < leastSide) return false;
    const isOver = ([x1, y1, x2, y2]: Sides) =>
      meet([(x1 + x2) / 2, (y1 + y2) / 2, (x1 + x2) / 2, (y1 + y2) / 2], picture);
    return texts.filter(isOver).length <= mostTextsOver;
  }).length;
}

/** Colours that differ less look the same. */
const mostDifferent = 12;

function isAlike(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return one.length > 0;
  return one.length === other.length && one.every((value, at) => Math.abs(value - (other[at] ?? 0)) <= mostDifferent);
}
