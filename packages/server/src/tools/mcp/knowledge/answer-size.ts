/** The budgets of an answer of the knowledge tools, in tokens of its JSON text. */
export const answerTokens = { least: 1_000, default: 8_000, most: 24_000 } as const;

/** The tokens that the members around the results need. Each way to answer a question takes about 20. */
export const envelopeTokens = 300;

/** Ids and URLs have at most 0.54 tokens for each byte. A text has at most one, which random letters and digits reach. */
const tokensOfByte = { id: 0.6, text: 1 } as const;

/**
 * Bounds the tokens of the JSON text of a value from above, without the table of the tokenizer.
 * @param texts those strings of the value that users chose, such as titles
 */
export function boundTokens(value: unknown, texts: ReadonlyArray<string | undefined> = []): number {
  const bytesOfTexts = Buffer.byteLength(JSON.stringify(texts.filter((text) => text !== undefined)));
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return Math.ceil(bytes * tokensOfByte.id + bytesOfTexts * (tokensOfByte.text - tokensOfByte.id));
}

/**
 * The tokens that one more character of JSON adds. An escape also splits the token around it, such as one of a full stop, a quote, a
 * comma and a line break. Up to 3 were measured.
 */
const tokensOfEscape = 4;

/** Bounds the tokens of a text as a JSON string from above. */
export function boundTextTokens(text: string, numTokens: number): number {
  const json = JSON.stringify(text);
  return Math.min(numTokens + tokensOfEscape * (json.length - text.length), Buffer.byteLength(json));
}

/**
 * Returns the longest start of a text that fits, approximately. It is at least one character, so that a reader who continues after it
 * always reaches the end.
 * @param countTokens counts the tokens of the JSON text
 */
export async function cutText(
  text: string,
  maxTokens: number,
  countTokens: (text: string) => Promise<number>,
): Promise<string> {
  // Few texts have more than 8 characters for each token.
  let start = startOf(text, maxTokens * 8);
  for (;;) {
    const tokens = await countTokens(JSON.stringify(start));
    if (tokens <= maxTokens || start.length <= 2) return start;
    start = startOf(start, Math.floor(Math.min(0.9, (maxTokens / tokens) * 0.95) * start.length));
  }
}

/** Does not cut within a surrogate pair. */
export function startOf(text: string, length: number): string {
  const end = Math.max(1, length);
  if (text.length <= end) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end);
}

/** Leaves out characters at the start, and half a surrogate pair with them. */
export function restOf(text: string, offset: number): string {
  return text.slice(offset > 0 && isHighSurrogate(text.charCodeAt(offset - 1)) ? offset + 1 : offset);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
