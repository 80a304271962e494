import type { ErrorDetail } from '@quartermaster/contract';
import { Problem } from '../problem.ts';
import { quoteText } from '../quote-text.ts';

/**
 * One rule of a schema that a value breaks. `found` and `expected` are noun phrases; requests answer with them as they
 * are, and every sentence about the error is built from them. Source: docs/contract.md "Both addresses".
 */
export interface ValidationError {
  /** Names and indexes from the root of the value to the place; the place itself may be missing. */
  readonly segments: readonly string[];
  readonly found: string;
  readonly expected: string;
}

/** `found` for a field that is required and not there. */
export const missing = 'nothing';
/** `expected` for a required field of which nothing more is known. */
export const anyValue = 'this field';
/** `found` for a name that the schema does not know; `expected` lists the names that it allows. */
export const unknownParameter = 'an unknown parameter';
/** The same where names must not be repeated; the path is that of the object. */
export const hiddenParameter = 'a parameter with an unknown name';

/** Longest part of a path, name or value that a sentence repeats, in characters. */
const longestPath = 200;
const longestValue = 60;

/** `body/name must be a string; received a number (5).` */
export function sentenceOf(violation: ErrorDetail): string {
  const { found, expected } = violation;
  const path = cut(violation.path, longestPath);
  if (found === unknownParameter) return `Unknown parameter ${quoteText(lastSegment(path))}. Allowed: ${expected}.`;
  if (found === hiddenParameter) return `${path} has an unknown parameter. Allowed: ${expected}.`;
  if (found !== missing) return `${path} must be ${expected}; received ${found}.`;
  return expected === anyValue ? `${path} is required.` : `${path} is required. Send ${expected}.`;
}

/** The sentence about a value whose name the reader sees beside it: `Must be a string; received a number (5).` */
export function sentenceWithoutPath(violation: ErrorDetail): string {
  if (violation.found === unknownParameter) return sentenceOf(violation);
  const predicate = sentenceOf({ ...violation, path: '' }).trimStart();
  return `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}`;
}

/** A request with these violations, at least one: the message describes the first, the details list all. */
export function validationFailed(violations: readonly [ErrorDetail, ...ErrorDetail[]]): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', sentenceOf(violations[0]), { details: violations });
}

/** @param root what the path begins with, such as `body/input_params`; empty for a JSON pointer */
export function toErrorDetail({ segments, found, expected }: ValidationError, root = ''): ErrorDetail {
  return { path: `${root}${toPointer(segments)}`, found, expected };
}

/** A value as JSON, cut off behind 60 characters; the cost depends on the cut, not on the value. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, longestValue));
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Half of a surrogate pair is no character.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(longest - 1)) ? longest - 1 : longest;
  return `${text.slice(0, end)}…`;
}

function lastSegment(path: string): string {
  return unescaped(path.slice(path.lastIndexOf('/') + 1));
}

export function pointerSegments(pointer: string): string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescaped);
}

/** The JSON pointer of a place; empty for the value itself. */
function toPointer(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
