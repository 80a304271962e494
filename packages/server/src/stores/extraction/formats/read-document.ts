import type { Extension } from '@quartermaster/contract';
import type { Document } from '../document.ts';
import type { Ocr } from '../ocr/recognition.ts';
import { withCheckBoxes } from './check-boxes.ts';
import { contentFormat } from './content-format.ts';
import { withPictures } from './embedded-pictures.ts';

/** The place of an attachment. */
export interface MailPlace {
  /** The number of mails around it. */
  readonly depth: number;
  /** What the outermost mail and all mails in it may still read. */
  readonly budget: { attachments: number };
}

export interface TextSource {
  /** An extension, or `text` for UTF-8 text from the request. */
  readonly format: string;
  readonly bytes: Uint8Array;
  /** The charset of a Content-Type header. */
  readonly charset?: string | undefined;
  /** Receives the percentage of the document read so far, from readers that know it. */
  readonly onProgress?: (percent: number) => void;
  /** Opens a PDF file. */
  readonly password?: string | null;
  /** For a document that is attached to a mail. */
  readonly mail?: MailPlace | undefined;
  /** Reads scanned pages. Default: they are not read. */
  readonly ocr?: Ocr | undefined;
}

interface Reader {
  /** Increase it when the reader gives another text for the same bytes. Default: 1. */
  readonly version?: number;
  /** For docs/reference/formats.md: what becomes text, and what does not. */
  readonly becomes: string;
  readonly omits: string;
  /** Loads the reader when it is first needed: a child that reads text never loads PDFium. */
  read(source: TextSource): Promise<Document>;
}

const measured = { becomes: '[see the measurements](extraction.md)', omits: '`dropped` in the report counts it' };
const sheet = { becomes: 'each row as a line of a table', omits: 'nothing' };
const readers: Readonly<Record<Extension, Reader>> = {
  txt: {
    ...measured,
    version: 3,
    read: async ({ bytes, charset }) => (await import('./read-text.ts')).readText(bytes, charset),
  },
  pdf: {
    ...measured,
    version: 6,
    read: async ({ bytes, onProgress, ocr, password = null }) =>
      (await import('./pdf/read-pdf.ts')).readPdf(bytes, { onPage: onProgress, ocr, password }),
  },
  docx: {
    ...measured,
    version: 6,
    read: async ({ bytes, ocr }) =>
      withPictures(withCheckBoxes(await (await import('./docx/read-docx.ts')).readDocx(bytes)), bytes, ocr),
  },
  md: {
    ...measured,
    version: 4,
    read: async ({ bytes, charset }) => (await import('./read-markdown.ts')).readMarkdown(bytes, charset),
  },
  html: {
    ...measured,
    version: 5,
    read: async ({ bytes, charset }) => (await import('./html/read-html.ts')).readHtml(bytes, charset),
  },
  csv: { ...sheet, read: async ({ bytes }) => (await import('./read-sheets.ts')).readSheets('csv', bytes) },
  xlsx: {
    version: 4,
    becomes:
      'the visible sheets as tables, their names as headings, cells as their number formats display them (also texts), dates and times as ISO 8601; text boxes and titles of charts behind them',
    omits:
      'hidden sheets, rows and columns, white cells, values that a format such as `;;;` hides (a warning names them), formulas, comments (counted); without OCR, pictures (a warning counts them)',
    read: async ({ bytes, ocr }) =>
      withPictures(await (await import('./read-sheets.ts')).readSheets('xlsx', bytes), bytes, ocr),
  },
  pptx: {
    version: 5,
    becomes:
      'the slides in the order of the show: titles as headings, text, tables, charts, diagrams, descriptions of pictures, comments, notes; hidden slides, too (a warning names them). `page` of a chunk is the slide. The words of pictures follow the text',
    omits:
      'layouts, dates, slide numbers and footers (`footers` counts them); without OCR, pictures (a warning counts them)',
    read: async ({ bytes, ocr }) =>
      withPictures(withCheckBoxes(await (await import('./pptx/read-pptx.ts')).readPptx(bytes)), bytes, ocr),
  },
  odt: openDocument('odt', {
    version: 4,
    becomes:
      'headings, paragraphs, lists with their numbers, tables, boxes, notes, formulas, charts, descriptions of pictures',
    omits: 'tracked deletions, hidden text, comments, headers and footers (each counted); without OCR, pictures',
  }),
  ods: openDocument('ods', {
    version: 3,
    becomes: 'the visible sheets as tables, as of `.xlsx`',
    omits:
      'hidden sheets, rows and columns, white cells, values that a format hides (a warning names them), formulas; without OCR, pictures',
  }),
  odp: openDocument('odp', {
    version: 4,
    becomes: 'the slides as of `.pptx`, without comments',
    omits: 'comments, dates, slide numbers and footers (counted); without OCR, pictures',
  }),
  rtf: {
    version: 3,
    becomes: 'headings, paragraphs, lists with their labels, tables, boxes, notes, results of fields',
    omits:
      'tracked deletions, hidden text, comments, headers and footers (each counted), pictures (a warning counts them), objects',
    read: async ({ bytes }) => withCheckBoxes((await import('./rtf/read-rtf.ts')).readRtf(bytes)),
  },
  epub: {
    version: 4,
    becomes:
      'the chapters in reading order, read like `.html`; a chapter without a heading gets its title in the table of contents',
    omits: 'the table of contents (counted), scripts; without OCR, pictures (a warning counts them)',
    read: async ({ bytes, ocr }) =>
      withPictures(await (await import('./epub/read-epub.ts')).readEpub(bytes), bytes, ocr),
  },
  eml: {
    version: 2,
    becomes:
      'subject as heading, sender, recipients, date, the text (HTML if the plain text has fewer than 20 words), and each attachment below its name, read like a file of its format; mails in mails, too',
    omits:
      'pictures that the HTML text shows (large ones are counted), signatures, and GIF and BMP pictures of the size of a logo. The report lists every other attachment; one that cannot be read makes the record `partial`',
    read: async (source) => (await import('./eml/read-eml.ts')).readEml(source, readDocument),
  },
  json: {
    becomes: 'each value as a line `name: value` with its path; each item of the outermost list is a paragraph',
    omits: 'nothing',
    read: async ({ bytes, charset }) => (await import('./json/read-json.ts')).readJson(bytes, charset),
  },
  jsonl: {
    becomes: 'each line like a `.json` document',
    omits: 'nothing; a line that is no JSON stays as it is, with a warning',
    read: async ({ bytes, charset }) => (await import('./json/read-json.ts')).readJsonLines(bytes, charset),
  },
  png: picture('png'),
  jpg: picture('jpg'),
  tiff: picture('tiff'),
  webp: picture('webp'),
};

function openDocument(format: 'odt' | 'ods' | 'odp', about: Omit<Reader, 'read'>): Reader {
  return {
    ...about,
    read: async ({ bytes, ocr }) => {
      const { readOpenDocument } = await import('./opendocument/read-opendocument.ts');
      return withPictures(withCheckBoxes(await readOpenDocument(format, bytes)), bytes, ocr);
    },
  };
}

function picture(format: 'png' | 'jpg' | 'tiff' | 'webp'): Reader {
  return {
    becomes: `the words that [OCR](../guides/operating.md#scanned-pages) reads${format === 'tiff' ? ', each page as a page' : ''}`,
    omits: 'pictures without words; pages beyond a budget are named in the report, and the record is `partial`',
    read: async ({ bytes, onProgress, ocr }) =>
      (await import('./image/read-picture.ts')).readPicture(format, bytes, { onPage: onProgress, ocr }),
  };
}

/** Returns what becomes text of a format, and what does not, for the documentation. */
export function describeReader(format: Extension): Pick<Reader, 'becomes' | 'omits'> {
  return readers[format];
}

/** @returns undefined for a format without a reader */
function readerOf(format: string): Reader | undefined {
  return Object.hasOwn(readers, format) ? readers[format as Extension] : undefined; // a key of the table
}

/** The name and version of the reader of a format, for the report. */
export function parserOf(format: string): string {
  return `quartermaster-${format}/${readerOf(format)?.version ?? 1}`;
}

/**
 * Reads a document of any text format. The content of a packed document decides its format; a warning says so when the name
 * has another one.
 * @throws ExtractionError when it cannot be read.
 */
export async function readDocument(source: TextSource): Promise<Document> {
  if (source.format === 'text') return readers.txt.read({ ...source, charset: 'utf-8' });
  const format = await contentFormat(source.bytes, source.format);
  const reader = readerOf(format);
  if (reader === undefined) throw new Error(`No reader converts ${format} to text.`);
  const document = await reader.read({ ...source, format });
  if (format === source.format) return document;
  return {
    ...document,
    facts: { ...document.facts, parser: parserOf(format) },
    warnings: [
      `other_format: The file is named as .${source.format}, but its content is .${format}; it was read as .${format}.`,
      ...document.warnings,
    ],
  };
}
