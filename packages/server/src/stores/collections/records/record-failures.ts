/**
 * Reasons why a record ended in `error` although its document is valid. `extraction/extraction.ts` has the codes of
 * invalid documents. Documented in docs/reference/errors.md.
 */
export const recordFailureCodes = {
  cancelled: 'The record was cancelled while it was being processed.',
  content_damaged:
    'The stored content of the file is damaged or cannot be read. Upload the same content again, then retry the record.',
  file_missing: 'The file was deleted before it was read. Upload it again.',
  internal_error: 'The service failed several times while it processed the record. Retry the record.',
  page_refused: 'The address of the page is not allowed. Use a public https address.',
  page_unreachable: 'The page could not be reached. Check its URL, then retry the record.',
  page_status: 'The server of the page did not respond with status 200. Check the URL, then retry the record.',
  page_too_large: 'The page is larger than the limit.',
  quota_exceeded:
    'The project has no room for the chunks of the record. Delete files or records, then retry the record.',
  storage_limit:
    'The chunks of the record would take too much storage for its text. Use larger chunks, less overlap or shorter headings.',
  unsupported_content: 'The page has a content type that is not supported.',
} as const satisfies Record<string, string>;
