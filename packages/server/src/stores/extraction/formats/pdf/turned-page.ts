import type { OpenPdf } from './open-pdf.ts';
import { kinds } from './text-objects.ts';

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** How coordinates of a page become those of the page as it is read: a, b, c, d, e and f of a PDF matrix. */
export type Turn = readonly [number, number, number, number, number, number];

/**
 * Returns the turn that makes text upright. The corner of the page is then at 0, 0.
 * @param quarters the direction of the text, in quarter turns against the clock
 */
export function turnOf(quarters: number, { left, right, bottom, top }: Box): Turn {
  if (quarters === 1) return [0, -1, 1, 0, -bottom, right];
  return quarters === 2 ? [-1, 0, 0, -1, right, top] : [0, 1, -1, 0, top, -left];
}

export function turnedBox({ left, right, bottom, top }: Box, [a, b, c, d, e, f]: Turn): Box {
  const [x1, y1] = [a * left + c * bottom + e, b * left + d * bottom + f];
  const [x2, y2] = [a * right + c * top + e, b * right + d * top + f];
  return { left: Math.min(x1, x2), right: Math.max(x1, x2), bottom: Math.min(y1, y2), top: Math.max(y1, y2) };
}

/** Turns the texts of an open page, so that PDFium and the search for lines and tables meet upright text. */
export function turnTexts({ pdfium, memory }: OpenPdf, page: number, turn: Turn): void {
  const matrix = pdfium.malloc(24);
  for (const [at, value] of turn.entries()) memory().setFloat32(matrix + 4 * at, value, true);
  const count = pdfium.FPDFPage_CountObjects(page);
  for (let at = 0; at < count; at += 1) {
    const object = pdfium.FPDFPage_GetObject(page, at);
    const kind = pdfium.FPDFPageObj_GetType(object);
    if (kind === kinds.text || kind === kinds.form) pdfium.FPDFPageObj_TransformF(object, matrix);
  }
  pdfium.free(matrix);
}
