import type { OpenPdf } from './open-pdf.ts';
import type { AnnotationReader } from './read-annotations.ts';
import { createSegmentReader, type PageSegments } from './read-segments.ts';

/**
 * Reads all pages in order and reports the percentage read after each page.
 * @returns one entry for each page; null stands for a page that is broken.
 */
export function readPages(
  pdf: OpenPdf,
  annotations: AnnotationReader,
  onPage: (percent: number) => void,
): (PageSegments | null)[] {
  const { numPages } = pdf;
  const reader = createSegmentReader(pdf, annotations);
  return Array.from({ length: numPages }, (_, index) => {
    const page = reader.read(index);
    onPage(Math.floor(((index + 1) * 100) / numPages));
    return page;
  });
}
