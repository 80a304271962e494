import { pictureFormatOf } from '@quartermaster/contract/formats';
import type { Block, Document } from '../document.ts';
import { ExtractionError } from '../extraction-error.ts';
import type { Ocr, UnreadReason } from '../ocr/recognition.ts';
import { type Archive, openArchive } from './open-package.ts';
import { picturesNotRead } from './picture-text.ts';

/** Folders and names of pictures in Office packages, OpenDocument files and EPUB publications. */
const inPackage = /^(?:(?:word|ppt|xl)\/media|Pictures)\/|\.(?:png|jpe?g|tiff?|webp|gif|bmp|emf|wmf|svg)$/i;
/** Pictures of the document itself, for lists of files. */
const previews = /^(?:docProps|Thumbnails|ObjectReplacements)\//;
const limits = {
  /** Pictures that OCR reads in one document. */
  read: 30,
  /** Smaller pictures are ornaments, in bytes as they are packed. */
  leastBytes: 1_024,
} as const;
/** A picture without legible words, such as a photograph, has lost nothing. */
const withoutWords: ReadonlySet<UnreadReason> = new Set(['low_confidence']);

/**
 * Adds the words that OCR reads in the pictures of a document, behind its text. Without OCR, a warning counts the pictures.
 * @param bytes the archive that the document is
 */
export async function withPictures(document: Document, bytes: Uint8Array, ocr: Ocr | undefined): Promise<Document> {
  const archive = await openArchive(bytes, 'Office');
  const isPicture = (name: string) => inPackage.test(name) && !previews.test(name);
  const pictures = archive.names.filter((name) => isPicture(name) && archive.packedBytes(name) >= limits.leastBytes);
  if (pictures.length === 0) return document;
  if (ocr?.job.kind !== 'on') return { ...document, warnings: [...document.warnings, ...unread(pictures.length, ocr)] };
  const blocks: Block[] = [];
  let missing = Math.max(0, pictures.length - limits.read);
  for (const name of pictures.slice(0, limits.read)) {
    const found = await readOne(archive, name, ocr);
    if (found === undefined) missing += 1;
    else blocks.push(...found);
  }
  const warnings = [...document.warnings, ...unread(missing, ocr)];
  return { ...document, blocks: [...document.blocks, ...blocks], warnings };
}

function unread(count: number, ocr: Ocr | undefined): string[] {
  const why = {
    on: 'OCR reads PNG, JPEG, TIFF and WebP, within its limits, in scripts whose language data is installed.',
    missing: ocr?.job.kind === 'missing' ? ocr.job.remedy : '',
    off: 'Pictures are read by OCR, which is off (QUARTERMASTER_OCR).',
  };
  return picturesNotRead(count, why[ocr?.job.kind ?? 'off']);
}

/** @returns undefined when the picture was not read */
async function readOne(archive: Archive, name: string, ocr: Ocr): Promise<readonly Block[] | undefined> {
  try {
    const bytes = archive.read(name) ?? new Uint8Array(0);
    const format = pictureFormatOf(Buffer.from(bytes.subarray(0, 16)).toString('latin1'));
    if (format === undefined) return undefined;
    const { readPicture } = await import('./image/read-picture.ts');
    const { blocks, facts } = await readPicture(format, bytes, { ocr });
    const isLost = facts.ocr?.not_read?.some(({ reason }) => !withoutWords.has(reason as UnreadReason)) ?? false;
    return isLost ? undefined : blocks.map(({ page: _page, words: _words, ...block }) => block);
  } catch (cause) {
    if (cause instanceof ExtractionError) return undefined;
    throw cause;
  }
}
