/** The id of a page is the id of its segment times this, plus its number. */
export const pagesPerSegment = 2 ** 22;

/** Maximum number of pages that one transaction writes or deletes, so that no other writer waits for long. */
export const pagesPerTransaction = 128;
