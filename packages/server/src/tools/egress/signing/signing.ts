/** The request to sign, as it is sent. */
export interface Signable {
  readonly method: string;
  /** The value of the `Host` header. */
  readonly host: string;
  /** Percent-encoded, as it is sent. */
  readonly path: string;
  /** Without the question mark, as it is sent; empty without a query. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** The hexadecimal SHA-256 of the body, for a body that is not in memory. Only AWS signatures use it. */
  readonly bodySha256?: string;
}

/** The headers and query parameters that a signature adds to a request. */
export interface Signature {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: ReadonlyArray<readonly [string, string]>;
}

/** Signs one request. `now`: milliseconds since 1970. */
export type Sign = (request: Signable, now: number) => Signature;

export interface Signer {
  readonly sign: Sign;
  /** Query names that belong to the signer. Their values in the request are removed before it signs. */
  readonly queryNames: readonly string[];
}

/** Encodes as RFC 3986 requires: everything except letters, digits, `-`, `.`, `_` and `~`. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes the pairs of a query again, strictly, and sorts them by their encoded text. */
export function sortedQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .map(([name, value]) => [encodeStrictly(name), encodeStrictly(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join('='))
    .join('&');
}

/** Compares by code unit, as the standards require. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
