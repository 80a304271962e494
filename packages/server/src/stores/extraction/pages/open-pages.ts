import { ExtractionError } from '../extraction-error.ts';
import { openPicture } from '../formats/image/open-picture.ts';
import { toPdf } from '../formats/image/picture-pdf.ts';
import { type OpenPdf, openPdf } from '../formats/pdf/open-pdf.ts';
import type { PageJob } from '../page-protocol.ts';

/**
 * Opens a document whose pages can be shown. A picture becomes pages of a PDF document, as when it was read.
 * @throws ExtractionError when it is damaged, or when the wanted picture has too many pixels to be decoded
 */
export async function openPages({ format, picture }: PageJob, bytes: Uint8Array): Promise<OpenPdf> {
  if (format === 'pdf') return openPdf(bytes);
  const { pages } = await openPicture(format, bytes);
  if (picture !== null && pages[picture.page - 1]?.parts.length === 0)
    throw new ExtractionError('memory_limit', `Page ${picture.page} has too many pixels to be drawn.`);
  return openPdf(toPdf(pages));
}
