import type { OpenPdf } from './open-pdf.ts';

/** Mends the texts of a page, so that PDFium reads vertical lines at all and each text once. */
export interface TextObjects {
  /**
   * Loads the text of an open page.
   * @param hidden texts that are not shown
   * @returns 0 when the page is broken
   */
  load(page: number, hidden: ReadonlySet<number>): number;
}

/** A text that covers a twin: the same text, printed a little aside as a shadow or to look bold. */
interface Overprint {
  readonly object: number;
  readonly twin: number;
  /** The drawing that holds the object; 0 for the page. */
  readonly form: number;
}

interface Placed {
  readonly object: number;
  readonly left: number;
  readonly bottom: number;
}

/** Kinds of page objects. Source: fpdf_edit.h of PDFium. */
export const kinds = { text: 1, path: 2, image: 3, shading: 4, form: 5 } as const;
const limits = { objects: 20_000, depth: 4, twins: 1_000, compared: 200, textBytes: 4_096 };
/** Filled and outlined, as PDFium numbers it. */
const outlined = 2;
/** PDFium skips texts that are narrower. */
const leastWidth = 0.0001;
/** The greatest distance of twins, as a share of the font size. Letters of a word are further apart. */
const reach = 0.12;
/** Small letters are as high as this share of the font size. Much lower texts are marks, such as full stops. */
const letterHeight = 0.5;
const lowestLetter = 4;
/** Bounds of the same text differ by rounding only. */
const precision = 0.02;

/** Returns the height of the font of a text as it is drawn, in points. The buffer has at least 24 bytes. */
export function sizeOf({ pdfium, memory }: OpenPdf, object: number, buffer: number): number {
  pdfium.FPDFTextObj_GetFontSize(object, buffer);
  const size = memory().getFloat32(buffer, true);
  pdfium.FPDFPageObj_GetMatrix(object, buffer);
  return size * Math.hypot(memory().getFloat32(buffer + 8, true), memory().getFloat32(buffer + 12, true));
}

export function createTextObjects(pdf: OpenPdf): TextObjects {
  const { pdfium, memory } = pdf;
  const buffer = pdfium.malloc(32);

  /**
   * Without the font, glyphs have no bounds here, and so a vertical line has no width. PDFium skips texts without a width. An
   * outlined text is as wide as the pen.
   */
  function widen(object: number): void {
    pdfium.FPDFTextObj_SetTextRenderMode(object, outlined);
    for (const [at, value] of [1, 0, 0, 1, 0, 0].entries()) memory().setFloat32(buffer + 4 * at, value, true);
    pdfium.FPDFPageObj_TransformF(object, buffer); // computes the bounds
  }

  function findOverprints(page: number, hidden: ReadonlySet<number>): Overprint[] {
    const found: Overprint[] = [];
    const bySize = new Map<number, Placed[]>();
    let left = limits.objects;

    function takeText(object: number, form: number): void {
      if (pdfium.FPDFPageObj_GetBounds(object, buffer, buffer + 4, buffer + 8, buffer + 12) === 0) return;
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = new Float32Array(memory().buffer, buffer, 4);
      if (x2 - x1 < leastWidth) {
        widen(object);
        return;
      }
      const most = reach * (y2 - y1 < lowestLetter ? sizeOf(pdf, object, buffer) : (y2 - y1) / letterHeight);
      const key = Math.round((x2 - x1) / precision) * 100_000 + Math.round((y2 - y1) / precision);
      const others = bySize.get(key) ?? [];
      bySize.set(key, others);
      const first = Math.max(0, others.length - limits.twins);
      for (let at = others.length - 1; at >= first; at -= 1) {
        const other = others[at];
        if (other === undefined || Math.abs(other.left - x1) > most || Math.abs(other.bottom - y1) > most) continue;
        found.push({ object, form, twin: other.object });
        return;
      }
      others.push({ object, left: x1, bottom: y1 });
    }

    function take(object: number, form: number, depth: number): void {
      left -= 1;
      const type = pdfium.FPDFPageObj_GetType(object);
      if (type === kinds.form && depth < limits.depth) {
        const count = pdfium.FPDFFormObj_CountObjects(object);
        for (let at = 0; at < count && left > 0; at += 1)
          take(pdfium.FPDFFormObj_GetObject(object, at), object, depth + 1);
      } else if (type === kinds.text && !hidden.has(object)) takeText(object, form);
    }

    const count = pdfium.FPDFPage_CountObjects(page);
    for (let at = 0; at < count && left > 0; at += 1) take(pdfium.FPDFPage_GetObject(page, at), 0, 0);
    return found;
  }

  /** Whether PDFium reads no other text at the same places. Where it dropped letters itself, a part of the text is left. */
  function areSame(text: number, overprints: readonly Overprint[]): boolean {
    const place = pdfium.malloc(limits.textBytes);
    const textOf = (object: number) => {
      const bytes = Math.min(pdfium.FPDFTextObj_GetText(object, text, place, limits.textBytes), limits.textBytes);
      return Buffer.from(memory().buffer, place, Math.max(0, bytes - 2)).toString('utf16le');
    };
    const areSame = overprints
      .slice(0, limits.compared)
      .every(({ object, twin }) => isPart(textOf(object), textOf(twin)));
    pdfium.free(place);
    return areSame;
  }

  function remove({ object, form }: Overprint, page: number): void {
    const isRemoved =
      form === 0 ? pdfium.FPDFPage_RemoveObject(page, object) : pdfium.FPDFFormObj_RemoveObject(form, object);
    if (isRemoved !== 0) pdfium.FPDFPageObj_Destroy(object);
  }

  return {
    load: (page, hidden) => {
      const overprints = findOverprints(page, hidden);
      const text = pdfium.FPDFText_LoadPage(page);
      if (text === 0 || overprints.length === 0 || !areSame(text, overprints)) return text;
      pdfium.FPDFText_ClosePage(text);
      for (const each of overprints) remove(each, page);
      return pdfium.FPDFText_LoadPage(page);
    },
  };
}

/** Whether the letters of a part stand in the whole in the same order. */
function isPart(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of part.replace(/\s/g, '')) {
    at = whole.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
