import { readMedia } from './detect-media.ts';
import { type OutputPart, outputPartLimits } from './output-part.ts';

/** Visits every text of a JSON value with its JSON Pointer. Stops when `visit` returns false. */
export function visitTexts(value: unknown, visit: (text: string, path: string) => boolean, path = ''): boolean {
  if (typeof value === 'string') return visit(value, path);
  if (typeof value !== 'object' || value === null) return true;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'string' && (typeof member !== 'object' || member === null)) continue;
    if (!visitTexts(member, visit, `${path}/${tokenOf(name)}`)) return false;
  }
  return true;
}

/** Finds the first pictures, documents and clips of an output, at most {@link outputPartLimits.parts}. */
export function findMedia(output: unknown): OutputPart[] {
  const parts: OutputPart[] = [];
  visitTexts(output, (text, path) => {
    const media = readMedia(text);
    if (media !== undefined) parts.push({ path, ...media });
    return parts.length < outputPartLimits.parts;
  });
  return parts;
}

/** Returns the output with the values at these paths replaced. It copies only what leads to them. */
export function replaceAt(output: unknown, values: ReadonlyMap<string, unknown>): unknown {
  let result = output;
  for (const [path, value] of values) result = replaceOne(result, path === '' ? [] : path.slice(1).split('/'), value);
  return result;
}

function replaceOne(output: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  // `fromEntries` and `defineProperty`, because a member may be named `__proto__`.
  const copy: object = Array.isArray(output) ? [...output] : Object.fromEntries(Object.entries(Object(output)));
  const member = memberOf(name);
  const changed = replaceOne(Object.getOwnPropertyDescriptor(copy, member)?.value, rest, value);
  return Object.defineProperty(copy, member, { value: changed, enumerable: true, writable: true, configurable: true });
}

/** Escapes a name for a JSON Pointer (RFC 6901). */
export function tokenOf(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function memberOf(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
