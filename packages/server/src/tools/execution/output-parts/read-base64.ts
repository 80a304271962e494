/** Bytes that a text holds, and the alphabet it uses (RFC 4648, sections 4 and 5). */
export interface Base64Content {
  readonly bytes: Buffer;
  readonly encoding: 'base64' | 'base64url';
}

const alphabets = [
  ['base64', /^[A-Za-z0-9+/]+={0,2}$/],
  ['base64url', /^[A-Za-z0-9_-]+={0,2}$/],
] as const;

/** Reads base64 of either alphabet, with or without padding, and with lines of equal length. Undefined for any other text. */
export function readBase64(text: string): Base64Content | undefined {
  const joined = joinLines(text);
  const [encoding] = alphabets.find(([, shape]) => joined !== undefined && shape.test(joined)) ?? [];
  if (joined === undefined || encoding === undefined) return undefined;
  const rest = joined.length % 4;
  if (joined.endsWith('=') ? rest !== 0 : rest === 1) return undefined;
  return { bytes: Buffer.from(joined, 'base64'), encoding };
}

/** The first bytes of a text that may be base64, as many as its first characters hold. Bytes of any text; check it later. */
export function firstBytes(text: string, bytes: number): Buffer {
  return Buffer.from(text.slice(0, Math.ceil((bytes * 4) / 3)), 'base64');
}

const sampleCharacters = 4096;

/**
 * Returns whether a long text is probably base64: its first characters include upper-case and lower-case letters, digits and
 * symbols. A number, a hexadecimal hash or a DNA sequence has fewer kinds of characters.
 */
export function looksLikeBase64(text: string): boolean {
  const sample = text.slice(0, sampleCharacters);
  return [/[A-Z]/, /[a-z]/, /[0-9]/, /[+/_-]/].every((kind) => kind.test(sample));
}

/** Joins lines of equal length; the last one may be shorter (RFC 2045, section 6.8). Undefined for other lines. */
function joinLines(text: string): string | undefined {
  if (!text.includes('\n')) return text;
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const [{ length } = '', last = ''] = [lines[0], lines.at(-1)];
  const areEqual = lines.every((line, index) => line.length === length || index === lines.length - 1);
  return areEqual && last.length <= length ? lines.join('') : undefined;
}
