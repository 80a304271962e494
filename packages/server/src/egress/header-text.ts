/** What may stand in a header: visible Latin-1, space and tab. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** What may name a header (RFC 9110 token). */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

/** Set by the connection or by us: a request may not name them. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'keep-alive'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'expect', 'accept-encoding'],
]);
