import type { Codes } from './explain-error.ts';

/**
 * Texts of the console for errors of records, uploads and rows, by their codes. Other codes keep the message of the
 * service. `{message}` is that message.
 */
export const codes: Codes = {
  columns_not_found: 'The columns of questions and answers were not found. Choose them, and import the sheet again.',
  file_damaged: 'The file cannot be read. Open it in its own program, save it again, and upload the new file.',
  file_empty: 'The file is empty.',
  file_encrypted: 'The file is protected by a password. Enter the password.',
  file_type_mismatch:
    'The content does not have the format that the file name says. Save the file in the right format.',
  no_rows: 'The sheet has no row with a question and an answer.',
  no_text: 'The document has no text: its pages are empty or contain only pictures.',
  password_wrong: 'The password is not correct. Enter it again.',
  undecodable: 'The characters of the file cannot be read. Save it as UTF-8, and upload the new file.',
  unsupported_content: 'Pages of this kind cannot be read.',
  page_unreachable: 'The page cannot be reached. Check the address.',
};

/** Texts for invalid fields of a request, by their names. */
export const fields: Codes = {
  columns: 'The columns of questions and of what is expected were not found. Choose them here.',
  content:
    'The content does not fit the file name. Open the file in its own program, and save it in the format of its name.',
  url: 'Enter the whole address of a page, such as https://example.com/help.',
};
