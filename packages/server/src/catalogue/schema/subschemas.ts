import { isJsonObject } from '../../kernel/json/json-object.ts';
import type { FieldPath } from '../manifest/findings.ts';

export type Subschema = boolean | Readonly<Record<string, unknown>>;

export interface SchemaNode {
  readonly schema: Subschema;
  readonly path: FieldPath;
  readonly depth: number;
  /** Applies to the same value as its parent: the engine works through it for every such value. */
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

/** Called for every part of every schema at start: it looks only at the keywords that are there. */
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

/** Keywords that say something about a value by themselves; the rest is for people or for other tools. */
const assertions = new Set([
  ...['$ref', 'const', 'default', 'dependentRequired', 'enum', 'format', 'pattern', 'required', 'type', 'uniqueItems'],
  ...['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
  ...['maxContains', 'maxItems', 'maxLength', 'maxProperties'],
  ...['minContains', 'minItems', 'minLength', 'minProperties'],
]);

/**
 * A copy with nothing but the keywords that are checked. The engine looks for addresses (`$id`, `$anchor`) under every
 * name it does not know, examples and extensions included, and fails on what it finds there.
 */
export function withoutRemarks(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) if (assertions.has(keyword)) copy[keyword] = value;
  // Error messages do not show the values of such a field.
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
