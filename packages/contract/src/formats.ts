/** How content shows that it is of a format. `stores/files/content-check` has one check for each kind. */
export type FormatContent =
  /** One of the patterns matches the first `within` bytes, read as Latin-1. */
  | { readonly kind: 'start'; readonly expected: string; readonly starts: readonly RegExp[]; readonly within?: number }
  /** The same for a picture. The content of any picture format is accepted, and decides how the file is read. */
  | { readonly kind: 'picture'; readonly expected: string; readonly starts: readonly RegExp[] }
  /** An Office Open XML package whose main part has this type, perhaps with macros, which are never run or read. */
  | { readonly kind: 'office'; readonly expected: string; readonly mainPart: string }
  /** A ZIP archive that names its type in the entry `mimetype`. */
  | { readonly kind: 'named_zip'; readonly expected: string; readonly types: readonly string[] }
  /** Text in any encoding, perhaps with the beginning of a mail or of JSON. */
  | { readonly kind: 'text'; readonly starts?: 'mail' | 'json' };

interface Format {
  /** The purposes of files that accept the format. */
  readonly purposes: ReadonlyArray<'record_file' | 'qa_record_file' | 'document_file'>;
  /** Other extensions of the format. */
  readonly aliases?: readonly string[];
  /** Its media types in lower case, the registered one first. */
  readonly mediaTypes: readonly string[];
  readonly content: FormatContent;
}

const text = ['record_file', 'document_file'] as const;
const more = ['document_file'] as const;
const ooxml = 'application/vnd.openxmlformats-officedocument';
const opendocument = 'application/vnd.oasis.opendocument';

/**
 * The formats of files by extension, in the order of all lists. The content check, the lists of purposes, the import of
 * attachments and the document reader of Open WebUI read this table; `stores/extraction/formats/read-document.ts` has a reader
 * for each row.
 */
export const formats = {
  txt: { purposes: text, mediaTypes: ['text/plain'], content: { kind: 'text' } },
  pdf: {
    purposes: text,
    mediaTypes: ['application/pdf'],
    // Adobe's readers accept other bytes in front of the header, too.
    content: { kind: 'start', expected: 'a PDF document', starts: [/%PDF-/], within: 1024 },
  },
  docx: {
    purposes: text,
    aliases: ['docm', 'dotx', 'dotm'],
    mediaTypes: [`${ooxml}.wordprocessingml.document`],
    content: { kind: 'office', expected: 'a Word document (Office Open XML)', mainPart: 'wordprocessingml' },
  },
  md: { purposes: text, mediaTypes: ['text/markdown'], content: { kind: 'text' } },
  html: { purposes: text, aliases: ['htm'], mediaTypes: ['text/html'], content: { kind: 'text' } },
  csv: { purposes: ['qa_record_file'], mediaTypes: ['text/csv'], content: { kind: 'text' } },
  xlsx: {
    purposes: ['qa_record_file', 'document_file'],
    aliases: ['xlsm', 'xltx', 'xltm'],
    mediaTypes: [`${ooxml}.spreadsheetml.sheet`],
    content: { kind: 'office', expected: 'an Excel workbook (Office Open XML)', mainPart: 'spreadsheetml' },
  },
  pptx: {
    purposes: more,
    aliases: ['pptm', 'ppsx', 'ppsm', 'potx', 'potm'],
    mediaTypes: [`${ooxml}.presentationml.presentation`],
    content: { kind: 'office', expected: 'a PowerPoint presentation (Office Open XML)', mainPart: 'presentationml' },
  },
  odt: openDocument('text', 'an OpenDocument text'),
  ods: openDocument('spreadsheet', 'an OpenDocument workbook'),
  odp: openDocument('presentation', 'an OpenDocument presentation'),
  rtf: {
    purposes: more,
    mediaTypes: ['application/rtf', 'text/rtf'],
    content: { kind: 'start', expected: 'an RTF document', starts: [/^\{\\rtf/] },
  },
  epub: {
    purposes: more,
    mediaTypes: ['application/epub+zip'],
    content: { kind: 'named_zip', expected: 'an EPUB publication', types: ['application/epub+zip'] },
  },
  eml: { purposes: more, mediaTypes: ['message/rfc822'], content: { kind: 'text', starts: 'mail' } },
  json: { purposes: more, mediaTypes: ['application/json'], content: { kind: 'text', starts: 'json' } },
  jsonl: { purposes: more, mediaTypes: ['application/jsonl'], content: { kind: 'text', starts: 'json' } },
  png: {
    purposes: more,
    mediaTypes: ['image/png'],
    content: { kind: 'picture', expected: 'a PNG image', starts: [/^\x89PNG\r\n\x1a\n/] },
  },
  jpg: {
    purposes: more,
    aliases: ['jpeg'],
    mediaTypes: ['image/jpeg'],
    content: { kind: 'picture', expected: 'a JPEG image', starts: [/^\xff\xd8\xff/] },
  },
  tiff: {
    purposes: more,
    aliases: ['tif'],
    mediaTypes: ['image/tiff'],
    content: { kind: 'picture', expected: 'a TIFF image', starts: [/^II\*\0/, /^MM\0\*/] },
  },
  webp: {
    purposes: more,
    mediaTypes: ['image/webp'],
    content: { kind: 'picture', expected: 'a WebP image', starts: [/^RIFF.{4}WEBP/s] },
  },
} as const satisfies Record<string, Format>;

/** A supported file extension; `.htm` is stored as `html`. */
export type Extension = keyof typeof formats;

/** The rows of the table. */
export const formatEntries = Object.entries(formats) as [Extension, Format][];

/** Templates are documents, too. Source: OpenDocument 1.3, part 2, 3.3. */
function openDocument(kind: 'text' | 'spreadsheet' | 'presentation', expected: string) {
  const type = `${opendocument}.${kind}`;
  return {
    purposes: more,
    mediaTypes: [type],
    content: { kind: 'named_zip', expected, types: [type, `${type}-template`] },
  } as const;
}

const aliases = new Map(
  formatEntries.flatMap(([extension, { aliases = [] }]) => aliases.map((one) => [one, extension])),
);

/** Returns the name under which the format is stored. @param extension in lower case */
export function canonicalExtension(extension: string): string {
  return aliases.get(extension) ?? extension;
}

/** Returns the format of an extension; undefined for an unknown one. @param extension in lower case */
export function formatOfExtension(extension: string): Extension | undefined {
  const canonical = canonicalExtension(extension);
  return Object.hasOwn(formats, canonical) ? (canonical as Extension) : undefined; // a key of the table
}

/** Returns the picture format of the content; undefined when it is none. @param start its first 16 bytes, read as Latin-1 */
export function pictureFormatOf(start: string): 'png' | 'jpg' | 'tiff' | 'webp' | undefined {
  const pictures = ['png', 'jpg', 'tiff', 'webp'] as const;
  return pictures.find((name) => formats[name].content.starts.some((pattern) => pattern.test(start)));
}

/** Returns the format of a media type; undefined for an unknown one. @param mediaType in lower case */
export function formatOfMediaType(mediaType: string): Extension | undefined {
  return formatEntries.find(([, format]) => format.mediaTypes.includes(mediaType))?.[0];
}

/** The purposes of uploaded files and their consequences. Source: docs/contract.md "Upload". */
export const purposes = {
  record_file: { extensions: extensionsOf('record_file'), collectionType: 'text', recordType: 'file' },
  qa_record_file: { extensions: extensionsOf('qa_record_file'), collectionType: 'qa', recordType: 'qa_sheet' },
  document_file: { extensions: extensionsOf('document_file'), collectionType: 'text', recordType: 'file' },
} as const;

function extensionsOf(purpose: 'record_file' | 'qa_record_file' | 'document_file'): readonly Extension[] {
  return formatEntries.flatMap(([extension, format]) => (format.purposes.includes(purpose) ? [extension] : []));
}

export type Purpose = keyof typeof purposes;

export const purposeNames = Object.keys(purposes) as Purpose[];

export function isPurpose(text: string): text is Purpose {
  return Object.hasOwn(purposes, text);
}

/** Returns the purposes that accept the extension, the one of the interface first. @param extension in lower case */
export function purposesFor(extension: string): Purpose[] {
  const canonical = canonicalExtension(extension);
  return purposeNames.filter((purpose) => (purposes[purpose].extensions as readonly string[]).includes(canonical));
}
