import type { ErrorObject } from 'ajv';
import { isJsonObject } from '../json/json-object.ts';
import { bestMatchErrors } from './best-match-errors.ts';
import {
  anyValue,
  hiddenParameter,
  missing,
  pointerSegments,
  quote,
  unknownParameter,
  type ValidationError,
} from './validation-error.ts';

export interface DescribeOptions {
  /** The validated schema. It resolves unions, and marks values with `x-secret` that are not shown. */
  readonly schema: object;
  /** Whether `found` may contain the value at a place. False for credentials, headers and passwords. */
  readonly showsValue: (segments: readonly string[]) => boolean;
  /** The maximum number of validation errors. */
  readonly limit: number;
}

/** Describes the errors that AJV reports with `verbose`, without duplicates. Linear in the number of errors. */
export function describeErrors(errors: readonly ErrorObject[], options: DescribeOptions): ValidationError[] {
  const described = new Map<string, ValidationError>();
  for (const error of bestMatchErrors(errors, options.schema)) {
    const segments = pointerSegments(error.instancePath);
    const showsValue = options.showsValue(segments) && !isSecretAt(options.schema, error.schemaPath);
    const validationError = describeError(error, segments, showsValue);
    const key = JSON.stringify(validationError);
    if (!described.has(key)) described.set(key, validationError);
    if (described.size >= options.limit) break;
  }
  return [...described.values()];
}

function describeError(error: ErrorObject, segments: readonly string[], showsValue: boolean): ValidationError {
  const { keyword, params } = error;
  switch (keyword) {
    case 'required':
      return { segments: [...segments, String(params.missingProperty)], found: missing, expected: anyValue };
    case 'dependentRequired':
    case 'dependencies': {
      const expected = `a value, because ${quote(params.property)} is given`;
      return { segments: [...segments, String(params.missingProperty)], found: missing, expected };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return describeUnknown(error, segments, showsValue);
    case 'propertyNames':
      return {
        segments,
        found: showsValue ? `the name ${quote(params.propertyName)}` : 'another name',
        expected: names(error),
      };
    case 'minProperties':
    case 'maxProperties': {
      const found = `an object of ${count(Object.keys(Object(error.data)).length, 'member')}`;
      return { segments, found, expected: describeExpected(error) };
    }
    default: {
      const found = describeValue(error.data, { showsValue, namesType: keyword === 'type' });
      return { segments, found, expected: describeExpected(error) };
    }
  }
}

/** Describes an unknown member. Its name comes from the caller, so it is shown only where values may be shown. */
function describeUnknown(error: ErrorObject, segments: readonly string[], showsValue: boolean): ValidationError {
  const name = String(error.params.additionalProperty ?? error.params.unevaluatedProperty);
  const declared: unknown = error.parentSchema?.properties;
  const allowed = isJsonObject(declared) ? Object.keys(declared).slice(0, mostListed) : [];
  const expected = allowed.length === 0 ? 'none' : allowed.join(', ');
  if (!showsValue) return { segments, found: hiddenParameter, expected };
  return { segments: [...segments, name], found: unknownParameter, expected };
}

/** The maximum number of names or values that one message lists. */
const mostListed = 30;

type Params = Readonly<Record<string, unknown>>;
type Expectation = (params: Params, error: ErrorObject) => string;

/** The phrase after "must be" for each keyword. */
const expectations: Readonly<Record<string, Expectation>> = {
  type: ({ type }) => (Array.isArray(type) ? type : String(type).split(',')).map(typePhrase).join(' or '),
  enum: (_params, { schema }) => `one of ${quoteList(schema)}`,
  const: (_params, { schema }) => quote(schema),
  minimum: ({ limit }) => `at least ${String(limit)}`,
  maximum: ({ limit }) => `at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `greater than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `a multiple of ${String(multipleOf)}`,
  minLength: ({ limit }) => `a string of at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `a string of at most ${count(limit, 'character')}`,
  minItems: ({ limit }) => `an array of at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `an array of at most ${count(limit, 'item')}`,
  minProperties: ({ limit }) => `an object of at least ${count(limit, 'member')}`,
  maxProperties: ({ limit }) => `an object of at most ${count(limit, 'member')}`,
  pattern: ({ pattern }) => `a string that matches ${String(pattern)}`,
  format: ({ format }) => `a string in the format ${String(format)}`,
  uniqueItems: () => 'an array without duplicates',
  contains: ({ minContains, maxContains }) => containing(minContains, maxContains),
  additionalItems: ({ limit }) => `an array of at most ${count(limit, 'item')}`,
  unevaluatedItems: () => 'an array without further items',
  'false schema': () => 'absent',
  not: () => 'a value that the schema does not exclude',
  anyOf: () => 'one of the allowed forms',
  oneOf: ({ passingSchemas }) =>
    Array.isArray(passingSchemas) ? 'exactly one of the allowed forms' : 'one of the allowed forms',
};

/** Describes a keyword. One that is not listed belongs to a newer engine and is named in the message. */
function describeExpected(error: ErrorObject): string {
  const { keyword, params } = error;
  const expectation = Object.hasOwn(expectations, keyword) ? expectations[keyword] : undefined;
  return expectation?.(params, error) ?? `a value that fits the keyword ${quote(keyword)} of the schema`;
}

const typePhrases: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
};

function typePhrase(type: unknown): string {
  return typePhrases[String(type)] ?? String(type);
}

/** @param inner the first rule that the name violates */
function names({ params: { inner } }: ErrorObject): string {
  return `an object whose names are each ${describeExpected(inner)}`;
}

function containing(least: unknown, most: unknown): string {
  const items = `at least ${count(least, 'item')}`;
  return `an array with ${items}${most === undefined ? '' : ` and at most ${String(most)}`} of the required form`;
}

/**
 * Describes a value in at most 60 characters, or by its type alone when it may not be shown. `namesType` adds the type,
 * which helps only when the type is wrong. Arrays show their size.
 */
function describeValue(
  value: unknown,
  { showsValue, namesType }: { readonly showsValue: boolean; readonly namesType: boolean },
): string {
  if (value === undefined) return missing;
  if (value === null) return 'null';
  if (Array.isArray(value)) return showsValue ? `an array of ${count(value.length, 'item')}` : 'an array';
  if (typeof value === 'object') return 'an object';
  if (!showsValue) return value === '' ? 'an empty string' : `a ${typeof value}`;
  return namesType ? `a ${typeof value} (${quote(value)})` : quote(value);
}

function quoteList(values: unknown): string {
  return Array.isArray(values) ? values.slice(0, mostListed).map(quote).join(', ') : quote(values);
}

function count(limit: unknown, noun: string): string {
  return `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;
}

/** Whether `x-secret` marks the violated schema or one that contains it. */
function isSecretAt(schema: object, schemaPath: string): boolean {
  let at: unknown = schema;
  for (const step of schemaPath.split('/').slice(1)) {
    if (!isJsonObject(at) && !Array.isArray(at)) return false;
    if ('x-secret' in at && at['x-secret'] === true) return true;
    // AJV escapes the steps like a JSON pointer in a URL.
    at = Reflect.get(at, decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return false;
}
