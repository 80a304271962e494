import { parseExactJson } from '../../platform/json/exact-json.ts';
import { isJsonObject } from '../../platform/json/json-object.ts';

/** A member of a JSON body: the names that lead to it, and its value. */
export type JsonMember = readonly [path: readonly string[], value: string];

/** Parses the name of a member. `key` is a member of the body, `/auth/key` a JSON pointer (RFC 6901). */
export function memberPath(name: string): string[] {
  if (!name.startsWith('/')) return [name];
  return name
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Returns the body with the members set. Existing values are replaced and missing objects are created. null when the body is not a
 * JSON object, or a value on a path is not an object.
 */
export function withJsonMembers(body: string, members: readonly JsonMember[]): string | null {
  const root = parseObject(body);
  if (root === null) return null;
  for (const [path, value] of members) {
    const place = descend(root, path.slice(0, -1));
    const name = path.at(-1);
    if (place === null || name === undefined) return null;
    define(place, name, value);
  }
  return JSON.stringify(root);
}

type Named = Record<string, unknown>;

function parseObject(text: string): Named | null {
  if (text === '') return {};
  try {
    const value: unknown = parseExactJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function descend(root: Named, path: readonly string[]): Named | null {
  let place = root;
  for (const name of path) {
    if (!Object.hasOwn(place, name)) define(place, name, {});
    const next = place[name];
    if (!isJsonObject(next)) return null;
    place = next;
  }
  return place;
}

/** Defines an own member with any name, `__proto__` included. */
function define(place: Named, name: string, value: unknown): void {
  Object.defineProperty(place, name, { value, writable: true, enumerable: true, configurable: true });
}
