import type { Document } from '../../document.ts';
import type { Ocr } from '../../ocr/recognition.ts';
import { readPdf } from '../pdf/read-pdf.ts';
import { openPicture, type PictureFormat } from './picture.ts';
import { hasResolution, toPdf } from './picture-pdf.ts';

/**
 * Reads a picture by OCR. It becomes the page of a PDF document, so that it is drawn, bounded and reported like scanned
 * pages.
 * @throws ExtractionError when it is damaged
 */
export async function readPicture(
  format: PictureFormat,
  bytes: Uint8Array,
  { onPage, ocr }: { readonly onPage?: ((percent: number) => void) | undefined; readonly ocr?: Ocr | undefined },
): Promise<Document> {
  const { pages, warnings } = await openPicture(format, bytes);
  const isScaled = pages.some((page) => !hasResolution(page));
  const document = await readPdf(toPdf(pages), { onPage, ocr, isScaled });
  const isOff = ocr === undefined || ocr.job.kind === 'off';
  const off = ['ocr_off: Pictures are read by OCR, which is off (QUARTERMASTER_OCR).'];
  return { ...document, warnings: [...warnings, ...document.warnings, ...(isOff ? off : [])] };
}
