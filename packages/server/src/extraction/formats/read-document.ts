import type { Document } from '../document.ts';
import type { Ocr } from '../ocr/recognition.ts';

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

/** The version of each reader. Increase it when the reader gives another text for the same bytes. */
const versions: Readonly<Record<string, number>> = { pdf: 2, docx: 3, html: 3, md: 2, txt: 2, text: 1, xlsx: 2 };

/** The name and version of the reader of a format, for the report. */
export function parserOf(format: string): string {
  return `quartermaster-${format}/${versions[format] ?? 1}`;
}

/**
 * Reads a document of any text format. The readers are loaded when first needed: a child that reads text never loads
 * PDFium.
 * @throws ExtractionError when it cannot be read.
 */
export async function readDocument(source: TextSource): Promise<Document> {
  const { format, bytes, charset, onProgress, ocr, password = null } = source;
  switch (format) {
    case 'pdf':
      return (await import('./pdf/read-pdf.ts')).readPdf(bytes, { onPage: onProgress, ocr, password });
    case 'docx':
      return (await import('./docx/read-docx.ts')).readDocx(bytes);
    case 'md':
      return (await import('./read-markdown.ts')).readMarkdown(bytes, charset);
    case 'html':
      return (await import('./html/read-html.ts')).readHtml(bytes, charset);
    case 'txt':
      return (await import('./read-text.ts')).readText(bytes, charset);
    case 'text':
      return (await import('./read-text.ts')).readText(bytes, 'utf-8');
    case 'eml':
      return (await import('./eml/read-eml.ts')).readEml(source, readDocument);
    case 'pptx':
      return (await import('./pptx/read-pptx.ts')).readPptx(bytes);
    case 'rtf':
      return (await import('./rtf/read-rtf.ts')).readRtf(bytes);
    case 'odt':
    case 'ods':
    case 'odp':
      return (await import('./opendocument/read-opendocument.ts')).readOpenDocument(format, bytes);
    case 'epub':
      return (await import('./epub/read-epub.ts')).readEpub(bytes);
    case 'png':
    case 'jpg':
    case 'tiff':
    case 'webp':
      return (await import('./image/read-picture.ts')).readPicture(format, bytes, { onPage: onProgress, ocr });
    case 'json':
      return (await import('./json/read-json.ts')).readJson(bytes, charset);
    case 'jsonl':
      return (await import('./json/read-json.ts')).readJsonLines(bytes, charset);
    case 'csv':
    case 'xlsx':
      return (await import('./read-sheets.ts')).readSheets(format, bytes);
    default:
      throw new Error(`No reader converts ${format} to text.`);
  }
}
