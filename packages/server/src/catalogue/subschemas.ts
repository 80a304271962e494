import type { FieldPath } from './findings.ts';

export type Subschema = boolean | Readonly<Record<string, unknown>>;

export interface SchemaNode {
  readonly schema: Subschema;
  readonly path: FieldPath;
  readonly depth: number;
  /** Applies to the same value as its parent: the engine works through it for every such value. */
  readonly inPlace: boolean;
}

const single = ['additionalProperties', 'contains', 'contentSchema', 'items', 'propertyNames'];
const singleMore = ['unevaluatedItems', 'unevaluatedProperties'];
const singleInPlace = ['else', 'if', 'not', 'then'];
const listsInPlace = ['allOf', 'anyOf', 'oneOf'];
const lists = ['prefixItems'];
const maps = ['$defs', 'definitions', 'patternProperties', 'properties'];
const mapsInPlace = ['dependentSchemas'];

/** Every schema inside a schema, itself first; what stands in `enum`, `const`, `default` or `examples` is data. */
export function* subschemasOf(schema: unknown, path: FieldPath, depth = 0, inPlace = false): Generator<SchemaNode> {
  if (!isSubschema(schema)) return;
  yield { schema, path, depth, inPlace };
  if (typeof schema === 'boolean') return;
  for (const child of childrenOf(schema)) {
    yield* subschemasOf(child.schema, [...path, ...child.steps], depth + 1, child.inPlace);
  }
}

interface Child {
  readonly schema: unknown;
  readonly steps: readonly string[];
  readonly inPlace: boolean;
}

export function childrenOf(schema: Readonly<Record<string, unknown>>): Child[] {
  const one = (inPlace: boolean) => (keyword: string) => [{ schema: schema[keyword], steps: [keyword], inPlace }];
  const many = (inPlace: boolean) => (keyword: string) => membersOf(schema[keyword], keyword, inPlace);
  return [
    ...[...single, ...singleMore].flatMap(one(false)),
    ...singleInPlace.flatMap(one(true)),
    ...[...maps, ...lists].flatMap(many(false)),
    ...[...mapsInPlace, ...listsInPlace].flatMap(many(true)),
  ].filter((child) => isSubschema(child.schema));
}

function membersOf(value: unknown, keyword: string, inPlace: boolean): Child[] {
  if (typeof value !== 'object' || value === null) return [];
  // The entries of an array are its indexes.
  return Object.entries(value).map(([name, schema]) => ({ schema, steps: [keyword, name], inPlace }));
}

export function isSubschema(value: unknown): value is Subschema {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}
