import { isJsonObject } from '../../../platform/json/json-object.ts';
import { type JsonSchema, membersOf, textsIn } from './function-format.ts';

const listing = new Set(['properties', 'required']);
const worded = new Set(['description', 'title', 'default', 'examples', 'deprecated']);

/** Joins an `allOf` whose parts cannot conflict into one schema. Other schemas are returned unchanged. */
export function joinParts(schema: JsonSchema): JsonSchema {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return schema;
  let joined: JsonSchema = rest;
  for (const part of allOf) {
    const next = isJsonObject(part) ? joinTwo(joined, joinParts(part)) : undefined;
    if (next === undefined) return schema;
    joined = next;
  }
  return joined;
}

function joinTwo(a: JsonSchema, b: JsonSchema): JsonSchema | undefined {
  const joined: Record<string, unknown> = { ...b, ...a };
  for (const keyword of Object.keys(a)) {
    if (listing.has(keyword) || worded.has(keyword) || b[keyword] === undefined) continue;
    if (JSON.stringify(a[keyword]) !== JSON.stringify(b[keyword])) return undefined;
  }
  const isClosed = a.additionalProperties === false || b.additionalProperties === false;
  if (isClosed && JSON.stringify(a.properties) !== JSON.stringify(b.properties)) return undefined;
  const properties = joinProperties(a.properties, b.properties);
  if (properties === undefined) return undefined;
  if (Object.keys(properties).length > 0) joined.properties = properties;
  const required = new Set([...textsIn(a.required), ...textsIn(b.required)]);
  if (required.size > 0) joined.required = [...required];
  return joined;
}

function joinProperties(a: unknown, b: unknown): Record<string, unknown> | undefined {
  const joined = Object.fromEntries(membersOf(a));
  for (const [name, schema] of membersOf(b)) {
    if (!Object.hasOwn(joined, name)) joined[name] = schema;
    else {
      const both = joinParts({ allOf: [joined[name], schema] });
      if (both.allOf !== undefined) return undefined;
      joined[name] = both;
    }
  }
  return joined;
}
