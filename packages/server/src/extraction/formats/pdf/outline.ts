import type { OpenPdf } from './open-pdf.ts';

/** The bookmarks of a document: the level of a heading by its text. */
export interface Outline {
  levelOf(text: string): number | undefined;
  readonly size: number;
}

const limits = { entries: 20_000, depth: 8, titleBytes: 2048 };

export function readOutline({ pdfium, memory, document }: OpenPdf): Outline {
  const levels = new Map<string, number>();
  const seen = new Set<number>();
  const buffer = pdfium.malloc(limits.titleBytes);

  function visit(parent: number, level: number): void {
    let bookmark = pdfium.FPDFBookmark_GetFirstChild(document, parent);
    while (bookmark !== 0 && !seen.has(bookmark) && seen.size < limits.entries) {
      seen.add(bookmark);
      const length = pdfium.FPDFBookmark_GetTitle(bookmark, buffer, limits.titleBytes);
      if (length > 2 && length <= limits.titleBytes) {
        const title = Buffer.from(memory().buffer, buffer, length - 2).toString('utf16le');
        const key = keyOf(title);
        if (key !== '' && !levels.has(key)) levels.set(key, level);
      }
      if (level < limits.depth) visit(bookmark, level + 1);
      bookmark = pdfium.FPDFBookmark_GetNextSibling(document, bookmark);
    }
  }

  visit(0, 1);
  pdfium.free(buffer);
  return {
    size: levels.size,
    levelOf: (text) => levels.get(keyOf(text)) ?? levels.get(keyOf(text.replace(numbering, ''))),
  };
}

/** Bookmarks often omit the number of the heading. */
const numbering = /^(?:chapter|appendix|глава|приложение|第)?\s*[A-Z]?[0-9]*(?:\.[0-9]+)*[.:]?\s+/i;

function keyOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
