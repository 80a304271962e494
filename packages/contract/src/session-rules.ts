/** Sent with every request of a session that changes something: a page of another origin cannot add it. */
export const csrfHeader = 'x-quartermaster-csrf';
/**
 * Holds the second token of a session. The console keeps it in the storage of its own origin, which, unlike a cookie, no
 * other port of the same host can read.
 */
export const consoleTokenHeader = 'x-quartermaster-console-token';
/** Names the project that a request of a session is about. */
export const projectHeader = 'x-quartermaster-project';
/** The same in the query of reads, for clients that cannot set a header. */
export const projectParameter = 'project_id';

/** Bounds of a password; what else is asked of it is said by the refusal. */
export const passwordBounds = { least: 12, advised: 15, most: 256 } as const;

/** Usable sessions of one administrator. */
export const maxSessions = 20;

/** Name of the session cookie, without the `__Host-` prefix that it has over HTTPS. */
export const sessionCookie = 'quartermaster_session';
