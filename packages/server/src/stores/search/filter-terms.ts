import { exactQuestionTerm } from './analysis/exact-question.ts';
import { markTerm } from './analysis/term-kinds.ts';

/*
 * The terms of a chunk that say what it belongs to. The character after the mark says the kind:
 *   r  its record
 *   q  its question, if it is a pair: a digest (`analysis/exact-question.ts`)
 *   t  an entry that is a text: the key, U+0001, and the text
 *   n  an entry that is a number, or a text that a database may compare as one: the key, U+0001, and the number
 *   b  an entry that is a boolean: the key, U+0001, and `true` or `false`
 *   o  an entry of another kind, except null: the key
 *   w  an entry whose terms may be those of other entries too: the key
 * The terms of the texts of a key are in the order of the texts, those of its numbers in the order of the numbers.
 */

/** What the filter terms of a chunk say. */
export interface FilteredChunk {
  /** Null for a chunk that was created directly. */
  readonly recordId: string | null;
  /** The question of a pair. */
  readonly question?: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly recordMetadata: Readonly<Record<string, unknown>>;
}

/** Returns the terms of a chunk. An entry of the chunk replaces that of its record. */
export function listFilterTerms({ recordId, question = null, metadata, recordMetadata }: FilteredChunk): string[] {
  const terms = new Set<string>(recordId === null ? [] : [recordTerm(recordId)]);
  const exact = question === null ? null : exactQuestionTerm(question);
  if (exact !== null) terms.add(exact);
  for (const [key, value] of Object.entries({ ...recordMetadata, ...metadata })) {
    for (const term of termsOfEntry(key, value)) terms.add(term);
  }
  return [...terms];
}

function termsOfEntry(key: string, value: unknown): string[] {
  const vague = isPlainKey(key) && (typeof value !== 'string' || isPlain(value)) ? [] : [vagueTerm(key)];
  if (typeof value === 'string') return [...vague, ...termsOfText(key, value)];
  if (typeof value === 'number') return [...vague, numberTerm(key, value, Number.isInteger(value))];
  if (typeof value === 'boolean') return [...vague, booleanTerm(key, value)];
  return value === null || value === undefined ? vague : [...vague, otherTerm(key)];
}

function termsOfText(key: string, text: string): string[] {
  const cutText = cut(text);
  const terms = [textTerm(key, text)];
  // The order of a text that is cut is between that of its first term and that of this one.
  if (cutText.length < Math.min(text.length, longestText)) terms.push(`${textTerm(key, text)}${highest}`);
  if (isNumber(text)) terms.push(numberTerm(key, Number(text), String(Number(text)) === text));
  return terms;
}

/** Returns the term of the chunks of a record. */
export const recordTerm = (recordId: string) => markTerm('filter', `r${recordId}`);
export const otherTerm = (key: string) => markTerm('filter', `o${cutKey(key)}`);
export const vagueTerm = (key: string) => markTerm('filter', `w${cutKey(key)}`);
export const booleanTerm = (key: string, value: boolean) => `${prefixOf('b', key)}${value}`;
export const textTerm = (key: string, text: string) => `${prefixOf('t', key)}${cut(text)}`;

/** Returns the beginning of the terms of a key's entries of one kind. */
export const prefixOf = (kind: 't' | 'n' | 'b', key: string) => markTerm('filter', `${kind}${cutKey(key)}\u0001`);

/** Longer texts share a term when they begin alike. */
export const longestText = 128;
/** The last character of the second term of a text that is cut. */
export const highest = '\uffff';
const unstorable = /[\0\ufffd\uffff]/;
const unstorableInKey = /[\0\u0001\ufffd\uffff]/;

/** Filters compare NUL and half of a surrogate pair as U+FFFD, so that a text is cut at all of them. */
export function cut(text: string): string {
  return cutAt(text.slice(0, longestText).toWellFormed(), unstorable);
}

/** U+0001 ends a key. */
function cutKey(key: string): string {
  return cutAt(key.slice(0, longestText).toWellFormed(), unstorableInKey);
}

function cutAt(text: string, end: RegExp): string {
  const place = text.search(end);
  return place < 0 ? text : text.slice(0, place);
}

/** Returns whether a text is the only one with its term. */
export const isPlain = (text: string) => text.length < longestText && cut(text) === text;
export const isPlainKey = (key: string) => cutKey(key) === key;

/** Larger and smaller numbers are rounded to these, because the databases may read them differently. */
const extremes = { least: 1e-290, most: 1e290 } as const;
/** Digits of the ordered form: the sign, the exponent and 40 bits of the number. */
const digits = 13;
const middle = 2 ** 51;
/** Integers below this are exact in the ordered form. */
const largestExact = 2 ** 41;

/**
 * Returns the ordered form of a number: hexadecimal digits whose order is that of the numbers. Numbers that differ in their
 * last 12 bits only have the same digits, those of the lowest of them.
 */
function orderedDigits(value: number): string {
  const size = Math.abs(value);
  if (size < extremes.least) return middle.toString(16);
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.min(size, extremes.most));
  const rest = view.getUint32(4);
  const whole = view.getUint32(0) * 2 ** 20 + (rest >>> 12);
  const isExact = (rest & 0xfff) === 0;
  const place = value > 0 ? middle + whole : middle - whole - (isExact ? 0 : 1);
  return place.toString(16).padStart(digits, '0');
}

const withoutZeros = (text: string) => text.replace(/0+$/, ''); // bounded: at most 13 characters (`digits`)

/** Returns whether a number can have a term of its own. */
export const isExactNumber = (value: number) => Number.isInteger(value) && Math.abs(value) < largestExact;

/** @param mayBeExact false for a number that a database may read differently */
export function numberTerm(key: string, value: number, mayBeExact: boolean): string {
  const form = orderedDigits(value);
  // The term of a number that is not exact comes after the exact one and before the next one.
  return `${prefixOf('n', key)}${mayBeExact && isExactNumber(value) ? withoutZeros(form) : `${form}x`}`;
}

/** Returns the first term that a number from this one on may have. */
export const firstTermFrom = (key: string, value: number) =>
  `${prefixOf('n', key)}${withoutZeros(orderedDigits(value))}`;
/** Returns a text after the last term that a number up to this one may have, and before all others. */
export const endOfTermsTo = (key: string, value: number) => `${prefixOf('n', key)}${orderedDigits(value)}y`;

/** A database may read the digits of a number as a neighbour of the number that JavaScript reads. */
const tolerance = 2 ** -50;
export const below = (value: number) => value - Math.abs(value) * tolerance;
export const above = (value: number) => value + Math.abs(value) * tolerance;

const numberLike = /^-?[0-9]/;
/** A longer text is never compared as a number. */
const longestNumber = 40;

/** Returns whether a database may compare a text as a number. */
function isNumber(text: string): boolean {
  return text.length <= longestNumber && numberLike.test(text) && Number.isFinite(Number(text));
}
