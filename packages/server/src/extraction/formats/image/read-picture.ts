import type { Document } from '../../document.ts';
import type { Ocr } from '../../ocr/recognition.ts';
import { readPdf } from '../pdf/read-pdf.ts';
import type { PictureFile } from './picture.ts';
import { toPdf } from './picture-pdf.ts';

export type PictureFormat = 'png' | 'jpg' | 'tiff' | 'webp';

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
  const { pages, warnings } = await open(format, bytes);
  const document = await readPdf(toPdf(pages), { onPage, ocr });
  const isOff = ocr === undefined || ocr.job.kind === 'off';
  const off = ['ocr_off: Pictures are read by OCR, which is off (QUARTERMASTER_OCR).'];
  return { ...document, warnings: [...warnings, ...document.warnings, ...(isOff ? off : [])] };
}

async function open(format: PictureFormat, bytes: Uint8Array): Promise<PictureFile> {
  switch (format) {
    case 'png':
      return (await import('./read-png.ts')).readPng(bytes);
    case 'jpg':
      return (await import('./read-jpeg.ts')).readJpeg(bytes);
    case 'tiff':
      return (await import('./read-tiff.ts')).readTiff(bytes);
    case 'webp':
      return (await import('./read-webp.ts')).readWebp(bytes);
  }
}
