import { isJsonObject } from '../../../platform/json/json-object.ts';
import { childrenOf } from '../schema/subschemas.ts';
import { type JsonSchema, membersOf } from './function-format.ts';

/** OpenAI's limits for one strict schema. */
const limits = { properties: 5_000, depth: 10, names: 120_000, enumValues: 1_000 };

interface Counts {
  properties: number;
  depth: number;
  /** The maximum number of characters of property names, definition names, and enum and const values together. */
  names: number;
  enumValues: number;
}

/** Describes which limit of the provider the schema exceeds; undefined when it exceeds none. */
export function findExcess(schema: JsonSchema): string | undefined {
  const counts: Counts = { properties: 0, depth: 0, names: 0, enumValues: 0 };
  count(schema, 1, counts);
  const over = (Object.keys(limits) as Array<keyof Counts>).find((kind) => counts[kind] > limits[kind]);
  if (over === undefined) return undefined;
  const words = { properties: 'properties', depth: 'levels', names: 'characters of names', enumValues: 'enum values' };
  return `strict mode allows at most ${limits[over]} ${words[over]}; the schema has ${counts[over]}`;
}

function count(schema: JsonSchema, depth: number, counts: Counts): void {
  const names = [...membersOf(schema.properties), ...membersOf(schema.$defs)].map(([name]) => name);
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  const texts = [...names, ...values.map(String), ...(schema.const === undefined ? [] : [String(schema.const)])];
  counts.properties += membersOf(schema.properties).length;
  counts.enumValues += values.length;
  counts.names += texts.reduce((sum, text) => sum + text.length, 0);
  counts.depth = Math.max(counts.depth, depth);
  for (const { schema: child, steps } of childrenOf(schema)) {
    const isDeeper = steps[0] === 'properties' || steps[0] === 'items';
    if (isJsonObject(child)) count(child, isDeeper ? depth + 1 : depth, counts);
  }
}
