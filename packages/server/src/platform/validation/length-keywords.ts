import { _, type Ajv } from 'ajv';

/**
 * Replaces Ajv's keywords for the length of a text. Ajv counts all characters for each branch of a union; these
 * keywords count no more of them than the limit.
 */
export function replaceLengthKeywords(ajv: Ajv): Ajv {
  const bounds = [
    ['maxLength', 'more', (text: string, limit: number) => !hasMoreThan(text, limit)],
    ['minLength', 'fewer', (text: string, limit: number) => hasMoreThan(text, limit - 1)],
  ] as const;
  for (const [keyword, word, isWithin] of bounds) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      before: 'pattern',
      errors: false,
      error: {
        message: ({ schema }) => `must NOT have ${word} than ${String(schema)} characters`,
        params: ({ schema }) => _`{limit: ${Number(schema)}}`,
      },
      compile: (limit: number) => (text: string) => isWithin(text, limit),
    });
  }
  return ajv;
}

/** A character consists of one or two UTF-16 units. */
function hasMoreThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let characters = 0;
  for (const _character of text) if (++characters > limit) return true;
  return false;
}
