import { didYouMean } from '../../../platform/validation/field-errors.ts';
import { checkReferences } from './check-references.ts';
import type { ErrorCollector, FieldPath } from './error-collector.ts';
import { compileLinearRegExp } from './linear-regexp.ts';
import { checkMetaSchema } from './manifest-engine.ts';
import { type SchemaNode, subschemasOf } from './subschemas.ts';

const maxSubschemas = 2_000;
const maxDepth = 32;
const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;
const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** Keywords that refer outside the document, rename its parts, or belong to another dialect. */
const refusedKeywords: Readonly<Record<string, string>> = {
  $id: 'is not allowed, because a schema in a manifest has no URI',
  $anchor: 'is not allowed; refer to "#/$defs/…"',
  $dynamicRef: 'is not allowed; refer to "#/$defs/…"',
  $dynamicAnchor: 'is not allowed; refer to "#/$defs/…"',
  $recursiveRef: 'is not JSON Schema 2020-12; use "$ref"',
  $vocabulary: 'is not allowed',
  $async: 'is not JSON Schema',
  id: 'is not JSON Schema 2020-12',
  additionalItems: 'is not JSON Schema 2020-12; use "items" beside "prefixItems"',
  dependencies: 'is not JSON Schema 2020-12; use "dependentRequired" or "dependentSchemas"',
  nullable: 'is not JSON Schema 2020-12; write type: [string, "null"]',
};

/**
 * Checks a schema of a manifest. It must be JSON Schema 2020-12 with a description of every property for the model that fills it
 * in. It must contain nothing that could block or confuse the engine. An accepted schema compiles at first use.
 */
export function checkSchema(schema: Readonly<Record<string, unknown>>, root: FieldPath, errors: ErrorCollector): void {
  if (!checkMetaSchema(schema, root, errors)) return;
  const nodes: SchemaNode[] = [];
  for (const node of subschemasOf(schema, root)) {
    nodes.push(node);
    if (nodes.length > maxSubschemas) {
      errors.add(root, `Holds more than ${maxSubschemas} subschemas.`);
      return;
    }
    if (node.depth > maxDepth) {
      errors.add(root, `Subschemas are nested deeper than ${maxDepth} levels.`);
      return;
    }
    checkNode(node, errors);
  }
  if (schema.$schema !== undefined && schema.$schema !== dialect) {
    errors.add([...root, '$schema'], `Must be ${dialect}, the only supported dialect, or absent.`);
  }
  checkRequired(schema, root, errors);
  checkReferences({ schema, root, nodes, errors });
}

function checkNode(node: SchemaNode, errors: ErrorCollector): void {
  const { schema, path } = node;
  if (typeof schema === 'boolean') return;
  for (const [keyword, reason] of Object.entries(refusedKeywords)) {
    if (Object.hasOwn(schema, keyword)) errors.add([...path, keyword], `"${keyword}" ${reason}.`);
  }
  for (const keyword of Object.keys(schema)) {
    const known = suggestKeyword(keyword);
    if (known !== undefined) errors.add([...path, keyword], `Unknown keyword "${keyword}". Did you mean "${known}"?`);
  }
  checkItems(schema, path, errors);
  if (Array.isArray(schema.enum) && schema.enum.length === 0) {
    errors.add([...path, 'enum'], 'Must list at least one value.');
  }
  for (const [name, property] of membersOf(schema.properties)) {
    checkProperty({ name, property, path: [...path, 'properties', name] }, errors);
  }
  if (typeof schema.pattern === 'string') checkPattern(schema.pattern, [...path, 'pattern'], errors);
  for (const [pattern] of membersOf(schema.patternProperties)) {
    checkPattern(pattern, [...path, 'patternProperties', pattern], errors);
  }
}

function checkProperty(member: { name: string; property: unknown; path: FieldPath }, errors: ErrorCollector): void {
  const { name, property, path } = member;
  if (!propertyName.test(name)) {
    errors.add(path, 'The name of a property must be 1 to 64 characters from a-z, A-Z, 0-9, "_", "." and "-".');
  }
  const description = typeof property === 'object' && property !== null ? Reflect.get(property, 'description') : '';
  if (typeof description !== 'string' || description.trim() === '') {
    errors.add(path, 'Must have a description. Models read it to fill in or to understand the property.');
  }
}

function checkItems(schema: Readonly<Record<string, unknown>>, path: FieldPath, errors: ErrorCollector): void {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (!types.includes('array') || 'items' in schema || 'prefixItems' in schema) return;
  errors.add(path, 'Must have "items", which describes the elements of the array.');
}

function checkPattern(pattern: string, path: FieldPath, errors: ErrorCollector): void {
  try {
    compileLinearRegExp(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    errors.add(path, `The pattern ${JSON.stringify(pattern.slice(0, 60))} cannot be used: ${reason}.`);
  }
}

/** Checks `required` at the root, where a name without a property is a typing error. Deeper, it may refer to a sibling schema. */
function checkRequired(schema: Readonly<Record<string, unknown>>, root: FieldPath, errors: ErrorCollector): void {
  if (!Array.isArray(schema.required) || schema.patternProperties !== undefined) return;
  const properties = new Set(membersOf(schema.properties).map(([name]) => name));
  for (const [index, name] of schema.required.entries()) {
    if (properties.has(String(name))) continue;
    errors.add([...root, 'required', String(index)], `${JSON.stringify(name)} is not listed in "properties".`);
  }
}

function membersOf(value: unknown): Array<[string, unknown]> {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** Keywords of JSON Schema 2020-12 that a schema may use. */
const keywords = [
  ...['type', 'enum', 'const', 'title', 'description', 'default', 'examples', 'format', 'pattern', 'deprecated'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength'],
  ...['maxItems', 'minItems', 'uniqueItems', 'maxContains', 'minContains', 'maxProperties', 'minProperties'],
  ...['required', 'dependentRequired', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
  ...['items', 'prefixItems', 'contains', 'dependentSchemas', 'unevaluatedItems', 'unevaluatedProperties'],
  ...['allOf', 'anyOf', 'oneOf', 'then', 'else', 'readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType'],
  ...['contentSchema'],
];
const known: ReadonlySet<string> = new Set(keywords);
/** Keywords of other dialects, which resemble a typing error. */
const otherDialects: ReadonlySet<string> = new Set(['example']);

/**
 * Suggests the keyword for a misspelt one. Validators ignore unknown keywords, so authors would not notice that `requierd` has no
 * effect. Undefined for names that resemble no keyword, because schemas may contain annotations.
 */
export function suggestKeyword(written: string): string | undefined {
  if (known.has(written) || otherDialects.has(written) || /^(\$|x-|.{0,3}$)/.test(written)) return undefined;
  return didYouMean(written, keywords);
}
