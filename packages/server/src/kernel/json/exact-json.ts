import { parseJson, withPlainNames } from './parse-json.ts';

// JSON.stringify writes a BigInt as an integer with all its digits, and so does every serializer that uses it.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint) {
    return rawJson.rawJSON(this.toString());
  },
  configurable: true,
  writable: true,
});

/** The types of TypeScript do not have `rawJSON` yet. */
const rawJson = JSON as unknown as { rawJSON(text: string): unknown };

/** Only a number with these digits or exponents can lose digits. Most texts contain none and are parsed as usual. */
const mayLoseDigits = /(?:^|[\s:,[])-?\d{16}|\d[eE]\+?\d{3}/;

/**
 * Parses JSON as {@link parseJson} does, but keeps integers beyond 2^53 as BigInt. A number that is too large for a double, such as
 * 1e999, becomes its text: JSON would write infinity as null.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  if (!mayLoseDigits.test(text)) return parseJson(text);
  const plain = withPlainNames(text);
  let value: unknown;
  try {
    value = JSON.parse(plain.text, exactNumber as Parameters<typeof JSON.parse>[1]);
  } catch {
    // Throws an error whose position refers to the original text.
    return JSON.parse(text);
  }
  return plain.restore(value);
}

function exactNumber(_name: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value)) return source;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Returns a JSON value with each BigInt converted; the same value when it contains none. */
export function convertBigInts(value: unknown, convert: (integer: bigint) => unknown): unknown {
  if (typeof value === 'bigint') return convert(value);
  if (typeof value !== 'object' || value === null) return value;
  let changed = false;
  const entries = Object.entries(value).map(([name, before]) => {
    const after = convertBigInts(before, convert);
    changed ||= after !== before;
    return [name, after] as const;
  });
  if (!changed) return value;
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
