/** A value of an output that is stored as an artifact: bytes that the output holds as text, or a large text. ADR 0097. */
export interface OutputPart {
  /** JSON Pointer of the value in the output; empty for the whole output. */
  readonly path: string;
  /** One of the types of `safeMediaType`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /**
   * How the output holds the bytes: as base64 of either alphabet after `prefix` (empty, or the start of a `data:` URL), as the
   * text itself, or as the JSON value of which the bytes are the JSON text.
   */
  readonly form: 'base64' | 'base64url' | 'text' | 'json';
  readonly prefix: string;
  /** The name of the file, if the output tells it. */
  readonly name?: string;
}

/** Bounds of what is stored of one output. */
export const outputPartLimits = {
  /** An output with more parts keeps the others as they are, or is stored whole. */
  parts: 64,
  /**
   * The maximum number of bytes of an output, as JSON, that is returned unchanged. In a larger output, parts are
   * replaced.
   */
  inlineBytes: 1024 * 1024,
  /** The maximum number of bytes of an output as JSON. A larger output fails the run. */
  outputBytes: 16 * 1024 * 1024,
  /** Contents of a tool of an MCP server beside a structured output. */
  contents: 32,
  /** The minimum number of characters of a text that is moved out of a large output. */
  largeText: 64 * 1024,
} as const;

/**
 * Returns the text that replaces a stored part in an output. The prefix stays, because the schema of the output may require it.
 * @param artifactId empty for a caller without a key, who cannot use it
 */
export function placeholderOf({ prefix, mediaType, bytes }: OutputPart, artifactId: string): string {
  return prefix + (artifactId === '' ? `(${mediaType}, ${bytes.length} bytes)` : `artifact:${artifactId}`);
}
