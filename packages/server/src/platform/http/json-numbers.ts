import { isJsonObject } from '../json/json-object.ts';
import type { Problem } from '../problem.ts';
import { fieldInvalid } from '../validation/validation-error.ts';

/** Only a number with these digits or exponents can be too large. Most bodies contain none and are not traversed. */
const mayBeTooLarge = /[eE]\+?\d{3}|(?<!\d)\d{200}/;

/**
 * JSON allows 1e999, JavaScript converts it to infinity, and JSON writes that as null. The stored value would therefore
 * differ.
 * @param value the value parsed from `text`
 */
export function numberTooLarge(text: string, value: unknown): Problem | undefined {
  const path = mayBeTooLarge.test(text) ? findInfinite(value, 'body') : undefined;
  if (path === undefined) return undefined;
  return fieldInvalid(path, 'a larger number', `a number up to ${Number.MAX_VALUE}`);
}

function findInfinite(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findInfinite(member, `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
