import { isJsonObject } from '../../../platform/json/json-object.ts';
import type { FieldPath } from './error-collector.ts';

export type Subschema = boolean | Readonly<Record<string, unknown>>;

export interface SchemaNode {
  readonly schema: Subschema;
  readonly path: FieldPath;
  readonly depth: number;
  /** Whether the schema applies to the same value as its parent, so that the engine evaluates both for each value. */
  readonly inPlace: boolean;
}

const single = [
  ...['additionalProperties', 'contains', 'contentSchema', 'items', 'propertyNames'],
  ...['unevaluatedItems', 'unevaluatedProperties'],
];
const singleInPlace = ['else', 'if', 'not', 'then'];
const listsInPlace = ['allOf', 'anyOf', 'oneOf'];
const lists = ['prefixItems'];
const maps = ['$defs', 'definitions', 'patternProperties', 'properties'];
const mapsInPlace = ['dependentSchemas'];

/** Yields the schema and every schema within it. Values of `enum`, `const`, `default` and `examples` are data and are skipped. */
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

/** Returns the direct subschemas. It visits only existing keywords, because every start calls it for every schema. */
export function childrenOf(schema: Readonly<Record<string, unknown>>): Child[] {
  const children: Child[] = [];
  const add = (child: Child) => {
    if (isSubschema(child.schema)) children.push(child);
  };
  for (const { keywords, holdsMany, inPlace } of places) {
    for (const keyword of keywords) {
      const value = schema[keyword];
      if (value === undefined) continue;
      if (holdsMany) membersOf(value, keyword, inPlace).forEach(add);
      else add({ schema: value, steps: [keyword], inPlace });
    }
  }
  return children;
}

const places = [
  { keywords: single, holdsMany: false, inPlace: false },
  { keywords: singleInPlace, holdsMany: false, inPlace: true },
  { keywords: [...maps, ...lists], holdsMany: true, inPlace: false },
  { keywords: [...mapsInPlace, ...listsInPlace], holdsMany: true, inPlace: true },
];

function membersOf(value: unknown, keyword: string, inPlace: boolean): Child[] {
  if (typeof value !== 'object' || value === null) return [];
  // The entries of an array are its indexes.
  return Object.entries(value).map(([name, schema]) => ({ schema, steps: [keyword, name], inPlace }));
}

export function isSubschema(value: unknown): value is Subschema {
  return typeof value === 'boolean' || isJsonObject(value);
}

/** Keywords that constrain a value by themselves. All others are annotations. */
const assertions = new Set([
  ...['$ref', 'const', 'default', 'dependentRequired', 'enum', 'format', 'pattern', 'required', 'type', 'uniqueItems'],
  ...['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
  ...['maxContains', 'maxItems', 'maxLength', 'maxProperties'],
  ...['minContains', 'minItems', 'minLength', 'minProperties'],
]);

/**
 * Copies a schema with only the keywords that are validated. The engine searches unknown members, examples and extensions included,
 * for `$id` and `$anchor`, and fails on invalid ones.
 */
export function withoutRemarks(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) if (assertions.has(keyword)) copy[keyword] = value;
  // Kept because error messages must not show the values of this field.
  if (schema['x-secret'] === true) copy['x-secret'] = true;
  for (const keyword of [...single, ...singleInPlace]) {
    const inner = schema[keyword];
    if (isSubschema(inner)) copy[keyword] = stripped(inner);
  }
  for (const keyword of [...lists, ...listsInPlace]) {
    const inner = schema[keyword];
    if (Array.isArray(inner)) copy[keyword] = inner.filter(isSubschema).map(stripped);
  }
  for (const keyword of [...maps, ...mapsInPlace]) {
    const inner = schema[keyword];
    if (typeof inner !== 'object' || inner === null) continue;
    const members = Object.entries(inner).filter((entry): entry is [string, Subschema] => isSubschema(entry[1]));
    copy[keyword] = Object.fromEntries(members.map(([name, member]) => [name, stripped(member)]));
  }
  return copy;
}

function stripped(schema: Subschema): Subschema {
  return typeof schema === 'boolean' ? schema : withoutRemarks(schema);
}
