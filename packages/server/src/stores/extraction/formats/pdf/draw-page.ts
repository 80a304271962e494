import type { Picture } from '../../ocr/recognition.ts';
import type { OpenPdf } from './open-pdf.ts';

export const pointsPerInch = 72;
/** FPDFBitmap_Gray of PDFium: one byte for each pixel. */
const grayFormat = 1;
/** FPDF_ANNOT of PDFium: annotations are drawn, too. */
const withAnnotations = 1;
const white = 0xff_ff_ff_ff;

/** Returns the resolution at which a page has at most `maxPixels`, and at most `dpi`. */
export function fittingDpi({ pdfium }: OpenPdf, page: number, { dpi, maxPixels }: { dpi: number; maxPixels: number }) {
  const squareInches = (pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)) / pointsPerInch ** 2;
  return squareInches > 0 ? Math.min(dpi, Math.floor(Math.sqrt(maxPixels / squareInches))) : 0;
}

/** Returns the pixels of a page, rounded down, so that it rarely has more than its resolution allows. */
export function pixelsOf({ pdfium }: Pick<OpenPdf, 'pdfium'>, page: number, dpi: number) {
  const scale = dpi / pointsPerInch;
  const pixels = (points: number) => Math.max(1, Math.floor(points * scale));
  return { width: pixels(pdfium.FPDF_GetPageWidthF(page)), height: pixels(pdfium.FPDF_GetPageHeightF(page)) };
}

/**
 * Draws an open page in shades of grey.
 * @returns undefined when PDFium has no memory for it
 */
export function drawPage({ pdfium, memory }: OpenPdf, page: number, dpi: number): Picture | undefined {
  const { width, height } = pixelsOf({ pdfium }, page, dpi);
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, grayFormat, 0, 0);
  if (bitmap === 0) return undefined;
  try {
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, withAnnotations);
    const stride = pdfium.FPDFBitmap_GetStride(bitmap);
    const buffer = pdfium.FPDFBitmap_GetBuffer(bitmap);
    const gray = Buffer.allocUnsafeSlow(width * height);
    for (let row = 0; row < height; row += 1)
      gray.set(new Uint8Array(memory().buffer, buffer + row * stride, width), row * width);
    return { width, height, dpi, gray };
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}
