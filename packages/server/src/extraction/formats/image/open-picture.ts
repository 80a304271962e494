import type { PageFormat } from '../../pages/page-protocol.ts';
import type { PictureFile } from './picture.ts';

export type PictureFormat = Exclude<PageFormat, 'pdf'>;

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
