import { randomUUID } from 'node:crypto';
import { isBeforeColon, parseJson, withPlainNames } from './parse-json.ts';

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

/** Only numbers with these digits or exponents can lose digits. Most texts contain none and are parsed as usual. */
const mayLoseDigits = /\d{16,}|\d[eE]\+?\d{3,}/g;

/** Whether a text may contain a number that loses digits. */
export function mayHaveLargeNumbers(text: string): boolean {
  return text.search(mayLoseDigits) >= 0;
}

/** Marks the text of a number. It is random, so no text can contain it. */
const mark = `${randomUUID().slice(0, 18)}:`;

/**
 * Parses JSON as {@link parseJson} does, but keeps integers beyond 2^53 as BigInt. A number that is too large for a double, such as
 * 1e999, becomes its text: JSON would write infinity as null.
 *
 * The numbers that would lose digits are parsed as marked strings, because `JSON.parse` with a function takes a hundred times as long.
 * @param most the largest number of numbers that would lose digits
 * @throws SyntaxError
 * @throws TooManyLargeNumbers
 */
export function parseExactJson(text: string, most = Number.POSITIVE_INFINITY): unknown {
  const marked = markNumbers(text, most);
  if (marked === null) return parseJson(text);
  const plain = withPlainNames(marked);
  let value: unknown;
  try {
    value = JSON.parse(plain.text);
  } catch {
    // Throws an error whose position refers to the original text.
    return JSON.parse(text);
  }
  return plain.restore(unmark(value));
}

export class TooManyLargeNumbers extends Error {}

/** @returns null when no number loses digits */
function markNumbers(text: string, most: number): string | null {
  const parts: string[] = [];
  let copied = 0;
  let end = 0;
  let isInString = false;
  let quote = text.indexOf('"');
  for (const { index } of text.matchAll(mayLoseDigits)) {
    if (index < end) continue;
    for (; quote >= 0 && quote < index; quote = text.indexOf('"', quote + 1)) {
      if (!isInString || !isEscaped(text, quote)) isInString = !isInString;
    }
    if (isInString) continue;
    const place = numberAt(text, index);
    end = place.end;
    const found = text.slice(place.start, end);
    if (!losesDigits(found)) continue;
    // A number is no name. The whole text is parsed for its error.
    if (isBeforeColon(text, end)) return null;
    if (parts.length >= 2 * most) throw new TooManyLargeNumbers();
    parts.push(text.slice(copied, place.start), `"${mark}${found}"`);
    copied = end;
  }
  if (copied === 0) return null;
  return parts.join('') + text.slice(copied);
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charAt(quote - 1 - backslashes) === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

const partsOfNumber = new Set(Array.from('+-.0123456789eE', (character) => character.charCodeAt(0)));

function numberAt(text: string, index: number): { readonly start: number; readonly end: number } {
  let start = index;
  while (partsOfNumber.has(text.charCodeAt(start - 1))) start -= 1;
  let end = index;
  while (partsOfNumber.has(text.charCodeAt(end))) end += 1;
  return { start, end };
}

const integer = /^-?[1-9]\d*$/;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

function losesDigits(text: string): boolean {
  // An integer of 17 digits is beyond 2^53.
  if (integer.test(text)) return text.length > 17 || !Number.isSafeInteger(Number(text));
  return !Number.isFinite(Number(text)) && number.test(text);
}

/** Replaces the marked strings of a parsed value in place. */
function unmark(value: unknown): unknown {
  const root = { value };
  const objects: object[] = [root];
  for (let object = objects.pop(); object !== undefined; object = objects.pop()) {
    const members = object as Record<string, unknown>;
    const visit = (name: string | number) => {
      const member = members[name];
      if (typeof member === 'object' && member !== null) objects.push(member);
      else if (typeof member === 'string' && member.startsWith(mark)) {
        const settings = {
          value: numberOf(member.slice(mark.length)),
          writable: true,
          enumerable: true,
          configurable: true,
        };
        if (name === '__proto__') Object.defineProperty(members, name, settings);
        else members[name] = settings.value;
      }
    };
    if (Array.isArray(object)) for (let at = 0; at < object.length; at++) visit(at);
    else for (const name of Object.keys(object)) visit(name);
  }
  return root.value;
}

function numberOf(text: string): bigint | string {
  return integer.test(text) && (text.length < 300 || Number.isFinite(Number(text))) ? BigInt(text) : text;
}

/** Returns a JSON value with each BigInt converted; the same value when it contains none. */
export function convertBigInts(value: unknown, convert: (integer: bigint) => unknown): unknown {
  if (typeof value === 'bigint') return convert(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => convertBigInts(item, convert));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([name, before]) => {
    const after = convertBigInts(before, convert);
    changed ||= after !== before;
    return [name, after] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}
