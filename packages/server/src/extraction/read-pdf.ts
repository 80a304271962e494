import { type PDFiumDocument, PDFiumLibrary } from '@hyzyla/pdfium';
import type { Block, Document } from './document.ts';
import { fileDamaged, fileEmpty, fileEncrypted, fileTypeMismatch, noText } from './unreadable.ts';

/** `onPage` is told the share of the pages read so far, 0 to 100. */
export async function readPdf(bytes: Uint8Array, onPage: (percent: number) => void = () => {}): Promise<Document> {
  if (bytes.length === 0) throw fileEmpty();
  // A new WebAssembly instance each time: nothing of a document that broke its memory reaches the next one.
  const library = await PDFiumLibrary.init();
  const document = await open(library, bytes);
  try {
    return readPages(library, document, onPage);
  } finally {
    document.destroy();
    library.destroy();
  }
}

async function open(library: PDFiumLibrary, bytes: Uint8Array): Promise<PDFiumDocument> {
  try {
    return await library.loadDocument(bytes);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    if (/password|security/i.test(message)) throw fileEncrypted('PDF');
    if (!Buffer.from(bytes.subarray(0, 1024)).includes('%PDF')) throw fileTypeMismatch('PDF', 'no PDF');
    throw fileDamaged('PDF', 'its structure is broken', cause);
  }
}

function readPages(library: PDFiumLibrary, document: PDFiumDocument, onPage: (percent: number) => void): Document {
  const pages = document.getPageCount();
  const blocks: Block[] = [];
  const unreadable: number[] = [];
  for (let index = 0; index < pages; index += 1) {
    const text = readPage(library, document, index);
    if (text === null) unreadable.push(index + 1);
    else if (text !== '') blocks.push({ kind: 'paragraph', text, page: index + 1 });
    onPage(Math.floor(((index + 1) * 100) / pages));
  }
  if (pages === 0 || unreadable.length === pages) throw fileDamaged('PDF', 'none of its pages can be read');
  if (blocks.length === 0) throw noText();
  const warnings = unreadable.length === 0 ? [] : [`Pages that could not be read: ${abridged(unreadable)}.`];
  return { blocks, facts: { pages, pages_without_text: pages - blocks.length }, warnings };
}

/** Null when the page is broken, empty when it holds no text. */
function readPage(library: PDFiumLibrary, document: PDFiumDocument, index: number): string | null {
  const page = document.getPage(index);
  // The library keeps every page open until the document closes; the handles it needs for that are private to it.
  // biome-ignore lint/complexity/useLiteralKeys: only a literal key reaches a private member
  const handle = page['pageIdx'];
  if (handle === 0) return null;
  try {
    return tidy(page.getText());
  } finally {
    // biome-ignore lint/complexity/useLiteralKeys: only a literal key reaches a private member
    library['module']._FPDF_ClosePage(handle);
  }
}

/** PDFium marks a hyphen at the end of a line that only breaks a word with U+FFFE (U+0002 in some fonts). */
function tidy(text: string): string {
  return text
    .replace(/[\ufffe\u0002]\r?\n?/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+\n/g, '\n')
    .trim();
}

function abridged(pages: readonly number[]): string {
  const shown = pages.slice(0, 20).join(', ');
  return pages.length > 20 ? `${shown} and ${pages.length - 20} more` : shown;
}
