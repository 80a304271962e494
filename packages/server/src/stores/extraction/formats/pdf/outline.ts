import type { OpenPdf } from './open-pdf.ts';

/** The bookmarks of a document: the level of a heading by its text. */
export interface Outline {
  levelOf(text: string): number | undefined;
  /** Whether a bookmark with this text leads to this page, counted from 1. */
  isTitleOn(page: number, text: string): boolean;
  /** The texts of all bookmarks, as `keyOf` returns them. */
  readonly keys: ReadonlySet<string>;
  readonly size: number;
  readonly entries: readonly OutlineEntry[];
}

/** A bookmark with a destination. */
export interface OutlineEntry {
  readonly title: string;
  readonly level: number;
  /** From 1. */
  readonly page: number;
  /** The height of the destination above the bottom of the page; undefined when the bookmark names the page alone. */
  readonly y: number | undefined;
}

const limits = { entries: 20_000, depth: 8, titleBytes: 2048 };

export function readOutline({ pdfium, memory, document }: OpenPdf): Outline {
  const levels = new Map<string, number>();
  const pagesOf = new Map<string, Set<number>>();
  const entries: OutlineEntry[] = [];
  const seen = new Set<number>();
  const buffer = pdfium.malloc(limits.titleBytes);

  function addPage(title: string, bookmark: number, level: number): void {
    const key = keyOf(title);
    const target = pdfium.FPDFBookmark_GetDest(document, bookmark);
    const action = target === 0 ? pdfium.FPDFBookmark_GetAction(bookmark) : 0;
    const destination = action === 0 ? target : pdfium.FPDFAction_GetDest(document, action);
    if (destination === 0) return;
    const page = pdfium.FPDFDest_GetDestPageIndex(document, destination) + 1;
    entries.push({ title, level, page, y: heightOf(destination) });
    const pages = pagesOf.get(key);
    if (pages === undefined) pagesOf.set(key, new Set([page]));
    else pages.add(page);
  }

  function heightOf(destination: number): number | undefined {
    // Three flags of 4 bytes, then x, y and the zoom, each of 4 bytes.
    const at = (index: number) => buffer + 4 * index;
    pdfium.FPDFDest_GetLocationInPage(destination, at(0), at(1), at(2), at(3), at(4), at(5));
    return memory().getInt32(at(1), true) === 0 ? undefined : memory().getFloat32(at(4), true);
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
        if (key !== '') addPage(title, bookmark, level);
      }
      if (level < limits.depth) visit(bookmark, level + 1);
      bookmark = pdfium.FPDFBookmark_GetNextSibling(document, bookmark);
    }
  }

  visit(0, 1);
  pdfium.free(buffer);
  return {
    size: levels.size,
    entries,
    keys: new Set(levels.keys()),
    isTitleOn: (page, text) =>
      [keyOf(text), keyOf(text.replace(numbering, ''))].some((key) => pagesOf.get(key)?.has(page) === true),
    levelOf: (text) => levels.get(keyOf(text)) ?? levels.get(keyOf(text.replace(numbering, ''))),
  };
}

/** Removes the number of a heading, which bookmarks often omit. */
export function withoutNumber(text: string): string {
  return text.replace(numbering, '');
}

const numbering = /^(?:chapter|appendix|глава|приложение|第)?\s*[A-Z]?[0-9]*(?:\.[0-9]+)*[.:]?\s+/i;

export function keyOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
