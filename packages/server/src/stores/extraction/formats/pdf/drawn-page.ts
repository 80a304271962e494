import type { OpenPdf } from './open-pdf.ts';

/** The most pixels of a side. */
const mostPixels = 1_000;

/** Fills objects with a shade of grey, from 0 to 255. */
export function paint(
  { pdfium }: OpenPdf,
  objects: readonly number[],
  { shade, opacity = 255 }: { readonly shade: number; readonly opacity?: number },
): void {
  for (const object of objects) pdfium.FPDFPageObj_SetFillColor(object, shade, shade, shade, opacity);
}

/** Returns the pixels of an open page, to compare them. */
export function drawSmall({ pdfium, memory }: OpenPdf, page: number): Buffer {
  const [width, height] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  const scale = Math.min(1, mostPixels / Math.max(width, height, 1));
  const [columns, rows] = [Math.max(1, Math.ceil(width * scale)), Math.max(1, Math.ceil(height * scale))];
  const bitmap = pdfium.FPDFBitmap_CreateEx(columns, rows, 4, 0, 0);
  if (bitmap === 0) return Buffer.alloc(0);
  pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, columns, rows, 0xffffffff);
  pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, columns, rows, 0, 0);
  const [start, stride] = [pdfium.FPDFBitmap_GetBuffer(bitmap), pdfium.FPDFBitmap_GetStride(bitmap)];
  const picture = Buffer.from(memory().buffer.slice(start, start + stride * rows));
  pdfium.FPDFBitmap_Destroy(bitmap);
  return picture;
}
