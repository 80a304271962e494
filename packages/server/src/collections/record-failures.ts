/**
 * Why a record ended in `error` without its document being to blame; the `error.code` beside those of
 * `extraction/extraction.ts`. Documented in docs/reference/errors.md.
 */
export const recordFailureCodes = {
  cancelled: 'Somebody cancelled the record while it was being made.',
  content_damaged:
    'The stored content of the file is damaged or cannot be read. Upload the same content again, then retry the record.',
  file_missing: 'The file was deleted before it was read.',
  internal_error: 'The service failed several times while it made the record; retry it.',
  page_refused: 'The address of the page is one that may not be fetched.',
  page_unreachable: 'The page could not be reached.',
  page_status: 'The server of the page did not answer with a page.',
  page_too_large: 'The page is larger than the limit.',
  unsupported_content: 'The page is of a type that cannot be read.',
} as const satisfies Record<string, string>;
export type RecordFailureCode = keyof typeof recordFailureCodes;
