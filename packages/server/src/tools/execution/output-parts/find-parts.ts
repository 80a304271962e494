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

/** Finds pictures, documents and clips of an output, by default as many as are stored of one output. */
export function findMedia(output: unknown, most: number = outputPartLimits.parts): OutputPart[] {
  const parts: OutputPart[] = [];
  visitTexts(output, (text, path) => {
    const media = readMedia(text);
    if (media !== undefined) parts.push({ path, ...media });
    return parts.length < most;
  });
  return parts;
}

/** Returns the output with the values at these paths replaced. It copies only what leads to them, and each of it once. */
export function replaceAt(output: unknown, values: ReadonlyMap<string, unknown>): unknown {
  const replacements = [...values].map(([path, value]) => ({ names: path.split('/').slice(1).map(memberOf), value }));
  return replaceBelow(output, replacements, 0);
}

interface Replacement {
  readonly names: readonly string[];
  readonly value: unknown;
}

function replaceBelow(output: unknown, replacements: readonly Replacement[], depth: number): unknown {
  if (replacements.length === 0) return output;
  const whole = replacements.findLast(({ names }) => names.length === depth);
  if (whole !== undefined) return whole.value;
  // `fromEntries` and `defineProperty`, because a member may be named `__proto__`.
  const copy: object = Array.isArray(output) ? [...output] : Object.fromEntries(Object.entries(Object(output)));
  for (const [member = '', below = []] of Map.groupBy(replacements, ({ names }) => names[depth])) {
    const changed = replaceBelow(Object.getOwnPropertyDescriptor(copy, member)?.value, below, depth + 1);
    Object.defineProperty(copy, member, { value: changed, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/** Escapes a name for a JSON Pointer (RFC 6901). */
export function tokenOf(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function memberOf(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
