import { isJsonObject } from '../kernel/json/json-object.ts';
import { fieldInvalid, type Problem } from '../kernel/problem.ts';

/** Only a number with such digits or such an exponent can be too large: most bodies have none and are not walked. */
const mayBeTooLarge = /[eE]\+?\d{3}|(?<!\d)\d{200}/;

/**
 * JSON allows 1e999, JavaScript makes it infinite, and JSON again null: it would be kept, and found, as something else.
 * @param value what `text` says.
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
