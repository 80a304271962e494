/** The purposes of uploaded files and their consequences. Source: docs/contract.md "Upload". */
export const purposes = {
  record_file: {
    extensions: ['txt', 'pdf', 'docx', 'md', 'html'],
    collectionType: 'text',
    recordType: 'file',
  },
  qa_record_file: {
    extensions: ['csv', 'xlsx'],
    collectionType: 'qa',
    recordType: 'qa_sheet',
  },
} as const;

export type Purpose = keyof typeof purposes;
/** A supported file extension; `.htm` is stored as `html`. */
export type Extension = (typeof purposes)[Purpose]['extensions'][number];

export const purposeNames = Object.keys(purposes) as Purpose[];

export function isPurpose(text: string): text is Purpose {
  return Object.hasOwn(purposes, text);
}
