/** The purposes of uploaded files and their consequences. Source: docs/contract.md "Upload". */
const documents = ['txt', 'pdf', 'docx', 'md', 'html'] as const;
export const purposes = {
  record_file: {
    extensions: documents,
    collectionType: 'text',
    recordType: 'file',
  },
  qa_record_file: {
    extensions: ['csv', 'xlsx'],
    collectionType: 'qa',
    recordType: 'qa_sheet',
  },
  document_file: {
    extensions: [
      ...documents,
      'xlsx',
      'pptx',
      'odt',
      'ods',
      'odp',
      'rtf',
      'epub',
      'eml',
      'json',
      'jsonl',
      'png',
      'jpg',
      'tiff',
      'webp',
    ],
    collectionType: 'text',
    recordType: 'file',
  },
} as const;

export type Purpose = keyof typeof purposes;
/** A supported file extension; `.htm` is stored as `html`. */
export type Extension = (typeof purposes)[Purpose]['extensions'][number];

export const purposeNames = Object.keys(purposes) as Purpose[];

export function isPurpose(text: string): text is Purpose {
  return Object.hasOwn(purposes, text);
}

/** Other extensions of the same formats. */
const aliases = new Map<string, Extension>([
  ['htm', 'html'],
  ['jpeg', 'jpg'],
  ['tif', 'tiff'],
]);

/** Returns the name under which the format is stored. @param extension in lower case */
export function canonicalExtension(extension: string): string {
  return aliases.get(extension) ?? extension;
}

/** Returns the purposes that accept the extension, the one of the interface first. @param extension in lower case */
export function purposesFor(extension: string): Purpose[] {
  const canonical = canonicalExtension(extension);
  return purposeNames.filter((purpose) => (purposes[purpose].extensions as readonly string[]).includes(canonical));
}
