import { isJsonObject } from '../../../platform/json/json-object.ts';
import { resolvePointer } from '../schema/check-references.ts';
import { childrenOf } from '../schema/subschemas.ts';
import type { JsonSchema } from './function-format.ts';

/** The maximum number of schemas after inlining, which multiplies shared definitions. Beyond it references stay. */
const maxInlined = 2_000;
const annotations = new Set(['description', 'title', 'default', 'examples', 'deprecated', '$comment']);

/**
 * Replaces `$ref` by its target, because several clients do not follow references. Recursive definitions, and those beyond the
 * bound, stay in `$defs`.
 */
export function inlineReferences(root: JsonSchema): JsonSchema {
  const names = new Map<string, string>();
  let inlined = 0;

  function inline(schema: unknown, open: readonly string[]): unknown {
    if (!isJsonObject(schema)) return schema;
    inlined += 1;
    const { $ref, ...beside } = schema;
    if (typeof $ref !== 'string') return withChildren(schema, open);
    const rest = withChildren(beside, open);
    if (open.includes($ref) || inlined > maxInlined) return { $ref: keep($ref), ...rest };
    const target = inline(resolvePointer($ref, root), [...open, $ref]);
    if (!isJsonObject(target)) return target === true ? rest : target;
    return merge(target, rest);
  }

  function withChildren(schema: JsonSchema, open: readonly string[]): Record<string, unknown> {
    const copy: Record<string, unknown> = { ...schema };
    for (const { steps, schema: child } of childrenOf(schema)) {
      const [keyword = '', name] = steps;
      if (keyword === '$defs' || keyword === 'definitions') continue;
      if (name === undefined) copy[keyword] = inline(child, open);
      else {
        const members = copy[keyword] === schema[keyword] ? cloneMembers(schema[keyword]) : copy[keyword];
        Reflect.set(Object(members), name, inline(child, open));
        copy[keyword] = members;
      }
    }
    delete copy.$defs;
    delete copy.definitions;
    return copy;
  }

  function keep($ref: string): string {
    const name = names.get($ref) ?? uniqueName($ref, new Set(names.values()));
    names.set($ref, name);
    return `#/$defs/${name}`;
  }

  const schema = withChildren(root, ['#']);
  const $defs: Record<string, unknown> = {};
  // Inlining one definition may keep another, so the map grows during the loop.
  for (const [$ref, name] of names) {
    const target = resolvePointer($ref, root);
    $defs[name] = isJsonObject(target) ? inlineKept(target, [$ref]) : target;
  }
  return names.size === 0 ? schema : { ...schema, $defs };

  function inlineKept(target: JsonSchema, open: readonly string[]): unknown {
    return typeof target.$ref === 'string' ? inline(target, open) : withChildren(target, open);
  }
}

function cloneMembers(members: unknown): unknown {
  return Array.isArray(members) ? [...members] : { ...Object(members) };
}

/** Combines two schemas that both apply. Conflicting keywords require an `allOf`. */
function merge(target: JsonSchema, beside: JsonSchema): JsonSchema {
  const clashes = Object.keys(beside).some((keyword) => keyword in target && !annotations.has(keyword));
  return clashes ? { allOf: [target, beside] } : { ...target, ...beside };
}

function uniqueName($ref: string, taken: ReadonlySet<string>): string {
  const last = $ref === '#' ? 'root' : ($ref.split('/').at(-1) ?? '');
  const base = last.replace(/[^A-Za-z0-9_]/g, '_') || 'definition';
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  return name;
}
