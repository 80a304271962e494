import { isJsonObject } from '../../../platform/json/json-object.ts';
import { type JsonSchema, type Losses, membersOf, textsIn } from './function-format.ts';
import { textOfAlternatives, withSentences } from './keyword-texts.ts';

/**
 * Flattens the parameters into one plain object, because providers refuse `allOf`, `anyOf` and `oneOf` at the root. Every name of
 * an alternative becomes a property; the description states which belong together.
 */
export function flattenRoot(schema: JsonSchema, root: readonly string[], losses: Losses): JsonSchema {
  let flat = schema;
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const branches = flat[keyword];
    if (!Array.isArray(branches)) continue;
    const { [keyword]: _, ...rest } = flat;
    flat = keyword === 'allOf' ? joinAll(rest, branches) : joinAny(rest, keyword, branches);
    const how = keyword === 'allOf' ? 'its parts are merged into one object' : 'the description lists the alternatives';
    losses.add('described', [...root, keyword], `This format does not support "${keyword}" at the root; ${how}.`);
  }
  return { ...flat, type: 'object', properties: isJsonObject(flat.properties) ? flat.properties : {} };
}

function joinAll(rest: JsonSchema, branches: readonly unknown[]): JsonSchema {
  const required = [rest, ...branches].flatMap((part) => textsIn(Reflect.get(Object(part), 'required')));
  const joined = { ...rest, properties: propertiesOf([rest, ...branches]), required: [...new Set(required)] };
  const odd = branches.filter((branch) => !isPlainObjectSchema(branch));
  return withSentences(
    joined,
    odd.map((branch) => `Also holds: ${JSON.stringify(branch).slice(0, 300)}.`),
  );
}

function joinAny(rest: JsonSchema, keyword: string, branches: readonly unknown[]): JsonSchema {
  const lists = branches.map((branch) => new Set(textsIn(Reflect.get(Object(branch), 'required'))));
  const always = [...(lists[0] ?? [])].filter((name) => lists.every((list) => list.has(name)));
  const required = [...new Set([...textsIn(rest.required), ...always])];
  const properties = propertiesOf([rest, ...branches]);
  const joined = { ...rest, properties, ...(required.length === 0 ? {} : { required }) };
  return withSentences(joined, [textOfAlternatives(keyword, branches)]);
}

/** Collects the properties of all parts. The first schema of a name is used. */
function propertiesOf(parts: readonly unknown[]): Record<string, unknown> {
  const properties = new Map<string, unknown>();
  for (const [name, schema] of parts.flatMap((part) => membersOf(Reflect.get(Object(part), 'properties')))) {
    if (!properties.has(name)) properties.set(name, schema);
  }
  return Object.fromEntries(properties);
}

const plain = new Set(['type', 'properties', 'required', 'description', 'title']);

function isPlainObjectSchema(branch: unknown): boolean {
  return isJsonObject(branch) && Object.keys(branch).every((keyword) => plain.has(keyword));
}
