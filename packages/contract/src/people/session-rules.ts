/** Required for every request of a session that changes data. A page of another origin cannot add it. */
export const csrfHeader = 'x-quartermaster-csrf';
/**
 * Carries the second token of a session. The console stores it in the storage of its own origin. Unlike a cookie, other ports of
 * the same host cannot read it.
 */
export const consoleTokenHeader = 'x-quartermaster-console-token';
/** Names the project that a request of a session concerns. */
export const projectHeader = 'x-quartermaster-project';
/** The same as a query parameter of reads, for clients that cannot set a header. */
export const projectParameter = 'project_id';

/** The length of a password in characters. The error messages state the other rules. */
export const passwordBounds = { least: 12, advised: 15, most: 256 } as const;

/** The maximum number of active sessions of one administrator. */
export const maxSessions = 20;

/** The name of the session cookie, without the prefix `__Host-` that it has over HTTPS. */
export const sessionCookie = 'quartermaster_session';
