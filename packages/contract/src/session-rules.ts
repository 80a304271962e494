/** Sent with every request of a session that changes something: a page of another origin cannot add it. */
export const csrfHeader = 'x-quartermaster-csrf';
/** Names the project that a request of a session is about. */
export const projectHeader = 'x-quartermaster-project';
/** The same in the query of reads, for links that a browser follows by itself. */
export const projectParameter = 'project_id';

/** Bounds of a password; what else is asked of it is said by the refusal. */
export const passwordBounds = { least: 12, advised: 15, most: 256 } as const;
