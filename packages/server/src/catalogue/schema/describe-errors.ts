import type { ErrorObject } from 'ajv/dist/2020.js';
import { pruneUnions } from './prune-unions.ts';

/** One thing that is wrong with a value. */
export interface Flaw {
  /** Names and indexes from the root of the value to the place; the place itself may be missing. */
  readonly segments: readonly string[];
  /** What follows "path: " for those who write the value by hand. */
  readonly message: string;
  /** The same error as the phrases `found` and `expected`, for callers: docs/contract.md "Both addresses". */
  readonly found: string;
  readonly expected: string;
}

export interface DescribeOptions {
  /** Whether the message may quote what was found. Never for credentials. */
  readonly showValues: boolean;
  /** At most this many flaws. */
  readonly limit: number;
}

/** Turns the engine's errors (made with `verbose`) into flaws: what was expected, what was found, most telling first. */
export function describeErrors(errors: readonly ErrorObject[], options: DescribeOptions): Flaw[] {
  const flaws = new Map<string, Flaw>();
  for (const error of pruneUnions(errors)) {
    const flaw = describeError(error, options);
    const key = `${flaw.segments.join('/')}\0${flaw.message}`;
    if (!flaws.has(key)) flaws.set(key, flaw);
    if (flaws.size >= options.limit) break;
  }
  return [...flaws.values()];
}

function describeError(error: ErrorObject, { showValues }: DescribeOptions): Flaw {
  const segments = pointerSegments(error.instancePath);
  if (error.keyword === 'required') {
    const place = [...segments, String(error.params.missingProperty)];
    return { segments: place, message: 'is required but missing', found: 'nothing', expected: 'this field' };
  }
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    return unknownName(error, segments, showValues);
  }
  const found = describeFound(error.data, showValues);
  const expected = expectation(error);
  if (expected !== undefined) return { segments, message: `expected ${expected}, found ${found}`, found, expected };
  const message = error.message ?? `breaks "${error.keyword}"`;
  return { segments, message, found, expected: `a value by "${error.keyword}" (${message})` };
}

/** The name itself is the caller's, so it is quoted only where values are. */
function unknownName(error: ErrorObject, segments: string[], showValues: boolean): Flaw {
  const name = String(error.params.additionalProperty ?? error.params.unevaluatedProperty);
  const declared: unknown = error.parentSchema?.properties;
  const names = typeof declared === 'object' && declared !== null ? Object.keys(declared) : [];
  const list = names.slice(0, 30).join(', ');
  const known = names.length === 0 ? 'none is allowed here' : `known names: ${list}`;
  const expected = names.length === 0 ? 'no names' : `no names but ${list}`;
  return showValues
    ? {
        segments: [...segments, name],
        message: `is not a known name; ${known}`,
        found: 'a name that is not known',
        expected,
      }
    : { segments, message: `has a name that is not known; ${known}`, found: 'a name that is not known', expected };
}

type Expectation = (params: Record<string, unknown>, error: ErrorObject) => string;

/** What each keyword expects, as a phrase; a keyword that is not listed keeps the engine's own sentence. */
const expectations: Readonly<Record<string, Expectation>> = {
  type: ({ type }) => (Array.isArray(type) ? type : String(type).split(',')).join(' or '),
  enum: (_params, { schema }) => `one of ${quoteList(schema)}`,
  const: (_params, { schema }) => quote(schema),
  minimum: ({ limit }) => `a number >= ${String(limit)}`,
  maximum: ({ limit }) => `a number <= ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `a number > ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `a number < ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `a multiple of ${String(multipleOf)}`,
  minLength: ({ limit }) => `at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `at most ${count(limit, 'character')}`,
  minItems: ({ limit }) => `at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `at most ${count(limit, 'item')}`,
  minProperties: ({ limit }) => `at least ${count(limit, 'member')}`,
  maxProperties: ({ limit }) => `at most ${count(limit, 'member')}`,
  pattern: ({ pattern }) => `text that matches ${String(pattern)}`,
  format: ({ format }) => `the format ${String(format)}`,
  uniqueItems: () => 'items that all differ',
  'false schema': () => 'nothing here',
  not: () => 'a value that is not of the excluded form',
  anyOf: () => 'one of the allowed forms',
  oneOf: ({ passingSchemas }) => (passingSchemas === null ? 'one of the allowed forms' : 'exactly one of the forms'),
};

function expectation(error: ErrorObject): string | undefined {
  return Object.hasOwn(expectations, error.keyword) ? expectations[error.keyword]?.(error.params, error) : undefined;
}

/** Type and, when allowed, the value in at most 60 characters. */
export function describeFound(value: unknown, showValues: boolean): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return showValues ? `array of ${value.length}` : 'array';
  if (typeof value === 'object') return 'object';
  return showValues ? `${typeof value} ${quote(value)}` : typeof value;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function quoteList(values: unknown): string {
  return Array.isArray(values) ? values.slice(0, 30).map(quote).join(', ') : quote(values);
}

function count(limit: unknown, noun: string): string {
  return `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;
}

export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The JSON pointer of a place; empty for the value itself. */
export function toPointer(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
