/** Whether a text can be the value of a header: visible Latin-1, space and tab. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** Whether a text can be the name of a header (RFC 9110 token). */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

/** Headers that the connection or the broker sets. A request must not name them. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'keep-alive'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'expect', 'accept-encoding'],
]);
