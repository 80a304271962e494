import type { OpenPdf } from './open-pdf.ts';

/** The bookmarks of a document: the level of a heading by its text. */
export interface Outline {
  levelOf(text: string): number | undefined;
  /** Whether a bookmark with this text leads to this page, counted from 1. */
  isTitleOn(page: number, text: string): boolean;
  /** The texts of all bookmarks, as `keyOf` returns them. */
  readonly keys: ReadonlySet<string>;
  readonly size: number;
}

const limits = { entries: 20_000, depth: 8, titleBytes: 2048 };

export function readOutline({ pdfium, memory, document }: OpenPdf): Outline {
  const levels = new Map<string, number>();
  const pagesOf = new Map<string, Set<number>>();
  const seen = new Set<number>();
  const buffer = pdfium.malloc(limits.titleBytes);

  function addPage(key: string, bookmark: number): void {
    const target = pdfium.FPDFBookmark_GetDest(document, bookmark);
    const action = target === 0 ? pdfium.FPDFBookmark_GetAction(bookmark) : 0;
    const destination = action === 0 ? target : pdfium.FPDFAction_GetDest(document, action);
    if (destination === 0) return;
    const page = pdfium.FPDFDest_GetDestPageIndex(document, destination) + 1;
    const pages = pagesOf.get(key);
    if (pages === undefined) pagesOf.set(key, new Set([page]));
    else pages.add(page);
  }

  function visit(parent: number, level: number): void {
    let bookmark = pdfium.FPDFBookmark_GetFirstChild(document, parent);
    while (bookmark !== 0 && !seen.has(bookmark) && seen.size < limits.entries) {
      seen.add(bookmark);
      const length = pdfium.FPDFBookmark_GetTitle(bookmark, buffer, limits.titleBytes);
      if (length > 2 && length <= limits.titleBytes) {
        const title = Buffer.from(memory().buffer, buffer, length - 2).toString('utf16le');
        const key = keyOf(title);
        if (key !== '' && !levels.has(key)) levels.set(key, level);
        if (key !== '') addPage(key, bookmark);
      }
      if (level < limits.depth) visit(bookmark, level + 1);
      bookmark = pdfium.FPDFBookmark_GetNextSibling(document, bookmark);
    }
  }

  visit(0, 1);
  pdfium.free(buffer);
  return {
    size: levels.size,
    keys: new Set(levels.keys()),
    isTitleOn: (page, text) =>
      [keyOf(text), keyOf(text.replace(numbering, ''))].some((key) => pagesOf.get(key)?.has(page) === true),
    levelOf: (text) => levels.get(keyOf(text)) ?? levels.get(keyOf(text.replace(numbering, ''))),
  };
}

/** Bookmarks often omit the number of the heading. */
const numbering = /^(?:chapter|appendix|глава|приложение|第)?\s*[A-Z]?[0-9]*(?:\.[0-9]+)*[.:]?\s+/i;

export function keyOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
