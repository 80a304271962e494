/** The budgets of an answer of the knowledge tools, in tokens of its JSON text. */
export const answerTokens = { least: 1_000, default: 8_000, most: 24_000 } as const;

/** What the members around the results need. */
export const envelopeTokens = 120;

/**
 * Bounds the tokens of the JSON text of a value from above, without the table of the tokenizer: ids and URLs have at most one token
 * for two bytes, and so has other text in UTF-8.
 */
export function boundTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 2);
}

/** Bounds the tokens of a text as a JSON string from above. Each escaped character adds at most one token for each character added. */
export function boundTextTokens(text: string, numTokens: number): number {
  return numTokens + JSON.stringify(text).length - text.length;
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
