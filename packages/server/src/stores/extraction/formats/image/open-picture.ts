import type { PageFormat } from '../../page-protocol.ts';
import type { PictureFile } from './picture.ts';

export type PictureFormat = Exclude<PageFormat, 'pdf'>;

/*
 * Why the service decodes pictures itself: the pages that the API shows need pixels, which tesseract does not return, and
 * tesseract receives only pictures that the service has described (`run-tesseract.ts`). Given the files themselves,
 * tesseract 5.3 reads 23 of 25 pictures of one sentence (not EXIF orientation 3, not a transparent WebP); this reads 25.
 */

/**
 * Reads the header of a picture, and its pixels if PDFium cannot decode them.
 * @throws ExtractionError when it is damaged
 */
export async function openPicture(format: PictureFormat, bytes: Uint8Array): Promise<PictureFile> {
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
