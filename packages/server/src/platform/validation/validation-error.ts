import type { ErrorDetail } from '@quartermaster/contract';
import { Problem } from '../problem.ts';
import { quoteText } from '../quote-text.ts';

/**
 * A violation of one rule of a schema. `found` and `expected` are noun phrases. Responses contain them, and sentences are built
 * from them. Source: docs/contract.md "Both addresses".
 */
export interface ValidationError {
  /** The names and indexes from the root to the place, which may be missing. */
  readonly segments: readonly string[];
  readonly found: string;
  readonly expected: string;
}

/** `found` for a missing required field. */
export const missing = 'nothing';
/** `expected` for a required field without further rules. */
export const anyValue = 'a value';
/** `found` for a name that the schema does not declare. `expected` lists the allowed names. */
export const unknownParameter = 'an unknown parameter';
/** The same where names must not be shown. The path is that of the object. */
export const hiddenParameter = 'a parameter with an unknown name';

/** The maximum number of characters of a path, and of a name or value, in a sentence. */
const longestPath = 200;
const longestValue = 60;

/** Formats a sentence such as `body/name must be a string; received a number (5).` */
export function sentenceOf(error: ErrorDetail): string {
  const { found, expected } = error;
  const path = cut(error.path, longestPath);
  if (found === unknownParameter) return `Unknown parameter ${quoteText(lastSegment(path))}. Allowed: ${expected}.`;
  if (found === hiddenParameter) return `${path} has an unknown parameter. Allowed: ${expected}.`;
  if (found !== missing) return mustBe(path, found, expected);
  return expected === anyValue ? `${path} is required.` : isRequired(path, expected);
}

function mustBe(path: string, found: string, expected: string): string {
  return `${path} must be ${expected}; received ${found}.`;
}

function isRequired(path: string, expected: string): string {
  return `${path} is required. Send ${expected}.`;
}

/** Formats a sentence for readers who see the name beside it: `Must be a string; received a number (5).` */
export function sentenceWithoutPath(error: ErrorDetail): string {
  if (error.found === unknownParameter) return sentenceOf(error);
  const predicate = sentenceOf({ ...error, path: '' }).trimStart();
  return `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}`;
}

/** The maximum number of violations that a message describes. */
const mostSentences = 5;

/**
 * Creates the error for at least one violation. The details list all of them, and the message describes the first ones, for
 * example: `body/bundle_id is required. body/input_params must be an object; received a number (5).`
 */
export function validationFailed(violations: readonly [ErrorDetail, ...ErrorDetail[]]): Problem {
  const [first, ...others] = violations;
  const message = `${sentenceOf(first)}${describeOthers(others)}`;
  return new Problem('REQUEST_VALIDATION_ERROR', message, { details: violations });
}

function describeOthers(violations: readonly ErrorDetail[]): string {
  const sentences = violations.slice(0, mostSentences - 1).map(sentenceOf);
  const left = violations.length - sentences.length;
  if (left > 0) sentences.push(`The details list ${left} more.`);
  return violations.length === 0 ? '' : ` ${sentences.join(' ')}`;
}

/**
 * A field has a value that is not allowed.
 * @param path of the field, such as `body/purpose`
 * @param found completes "received …" without the value of a secret
 * @param expected completes "must be …"
 */
export function fieldInvalid(path: string, found: string, expected: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', mustBe(path, found, expected), {
    details: [{ path, found, expected }],
  });
}

/**
 * A required field is absent.
 * @param path of the field, such as `body/url`
 * @param expected the value that the field takes, such as `an https URL`
 */
export function fieldMissing(path: string, expected: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', isRequired(path, expected), {
    details: [{ path, found: missing, expected }],
  });
}

/** @param root the start of the path, such as `body/input_params`; empty for a JSON pointer */
export function toErrorDetail({ segments, found, expected }: ValidationError, root = ''): ErrorDetail {
  return { path: `${root}${toPointer(segments)}`, found, expected };
}

/** Writes a value as JSON, cut after 60 characters. The cost depends on that length, not on the value. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, longestValue));
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** Lists quoted names, for "one of …". */
export function quoteNames(names: readonly string[]): string {
  return names.map(quote).join(', ');
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Does not cut within a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(longest - 1)) ? longest - 1 : longest;
  return `${text.slice(0, end)}…`;
}

function lastSegment(path: string): string {
  return unescaped(path.slice(path.lastIndexOf('/') + 1));
}

export function pointerSegments(pointer: string): string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescaped);
}

/** The JSON pointer of a place; empty for the root. */
function toPointer(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
