/** A request as it goes over the wire, for whoever signs it. */
export interface Signable {
  readonly method: string;
  /** As the `Host` header has it. */
  readonly host: string;
  /** Percent-encoded, as it is sent. */
  readonly path: string;
  /** As it is sent, without the question mark; empty for none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** What a signature adds to a request. */
export interface Signature {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: ReadonlyArray<readonly [string, string]>;
}

/** Signs one request. `now`: milliseconds since 1970. */
export type Sign = (request: Signable, now: number) => Signature;

export interface Signer {
  readonly sign: Sign;
  /** Names in the query that are the signer's own: what the request has under them is taken out before it signs. */
  readonly queryNames: readonly string[];
}

/** RFC 3986: everything but letters, digits, `-`, `.`, `_` and `~` is encoded. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The pairs of a query, each encoded anew and strictly, in the order of their encoded text. */
export function sortedQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .map(([name, value]) => [encodeStrictly(name), encodeStrictly(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join('='))
    .join('&');
}

/** By code unit, as the standards sort. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
