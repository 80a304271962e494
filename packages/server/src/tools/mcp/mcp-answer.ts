export interface McpAnswer {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  /** A stream for events, and for lists that are cached compressed. */
  readonly body: Buffer | ReadableStream | null;
}
