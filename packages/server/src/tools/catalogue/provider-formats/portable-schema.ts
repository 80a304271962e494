import { isJsonObject } from '../../../platform/json/json-object.ts';
import { type JsonSchema, typesOf } from './function-format.ts';

/** Keywords that restrict values of one type only. `number` includes integers. */
const typeOfKeyword: Readonly<Record<string, string>> = {
  items: 'array',
  prefixItems: 'array',
  contains: 'array',
  minContains: 'array',
  maxContains: 'array',
  minItems: 'array',
  maxItems: 'array',
  uniqueItems: 'array',
  properties: 'object',
  patternProperties: 'object',
  additionalProperties: 'object',
  propertyNames: 'object',
  required: 'object',
  dependentRequired: 'object',
  dependentSchemas: 'object',
  minProperties: 'object',
  maxProperties: 'object',
  pattern: 'string',
  minLength: 'string',
  maxLength: 'string',
  contentEncoding: 'string',
  contentMediaType: 'string',
  contentSchema: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
};

/**
 * Replaces constructs that clients and models are known to reject by equivalent ones: lists of types, and true and false as
 * schemas. `additionalProperties` and the two `unevaluated…` keywords keep true and false, which every client knows.
 */
export function portable(schema: JsonSchema | boolean): JsonSchema {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} };
  return withSingleTypes(withItemsAsObject(schema));
}

function withItemsAsObject(schema: JsonSchema): JsonSchema {
  const { items, ...rest } = schema;
  if (items === true) return { ...schema, items: {} };
  if (items !== false) return schema;
  const places = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
  const maxItems = typeof schema.maxItems === 'number' ? Math.min(schema.maxItems, places) : places;
  return { ...rest, maxItems };
}

/**
 * Replaces a list of types by `anyOf` with one type each, because several clients and models reject the list. The result accepts
 * the same values. Each keyword goes to the alternative that it restricts, so nothing is repeated.
 */
export function withSingleTypes(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.type)) return schema;
  const { type: _, ...rest } = schema;
  const types = withoutIntegers(typesOf(schema) ?? []);
  if (isImpliedByAlternatives(schema.anyOf, types)) return rest;
  const { beside, ofType } = distribute(rest, types);
  const branches = types.flatMap((type) => branchOf(type, ofType.get(type) ?? {}, schema));
  const [only] = branches;
  if (only === undefined) return { ...beside, not: {} };
  if (branches.length === 1) return { ...beside, ...only };
  if (beside.anyOf === undefined) return { ...beside, anyOf: branches };
  const { anyOf, allOf, ...others } = beside;
  return { ...others, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf }, { anyOf: branches }] };
}

function withoutIntegers(types: readonly string[]): string[] {
  const distinct = [...new Set(types)];
  return distinct.includes('number') ? distinct.filter((type) => type !== 'integer') : distinct;
}

/** Whether every alternative allows only listed types, so that the list adds nothing. */
function isImpliedByAlternatives(alternatives: unknown, types: readonly string[]): boolean {
  if (!Array.isArray(alternatives)) return false;
  return alternatives.every((alternative) => {
    const own = isJsonObject(alternative) ? typesOf(alternative) : undefined;
    return own?.every((type) => types.includes(type)) === true;
  });
}

/** Divides keywords into those of one type and those that stay beside the alternatives. */
function distribute(schema: JsonSchema, types: readonly string[]) {
  const beside: Record<string, unknown> = {};
  const ofType = new Map<string, Record<string, unknown>>(types.map((type) => [type, {}]));
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'enum' || keyword === 'const') continue;
    const family = keyword === 'format' ? familyOfFormat(types) : typeOfKeyword[keyword];
    const target = family === undefined ? beside : ofType.get(typeIn(types, family));
    if (target !== undefined) target[keyword] = value;
  }
  return { beside, ofType };
}

/** Formats of texts and formats of numbers have different names. */
function familyOfFormat(types: readonly string[]): string | undefined {
  return ['string', 'number'].find((family) => types.includes(typeIn(types, family)));
}

function typeIn(types: readonly string[], family: string): string {
  return family === 'number' && types.includes('integer') ? 'integer' : family;
}

/** The alternative for a type; none when a list of values has no value of this type. */
function branchOf(type: string, own: JsonSchema, schema: JsonSchema): JsonSchema[] {
  const branch: Record<string, unknown> = { type, ...own };
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.filter((value) => isOfType(value, type));
    if (values.length === 0) return [];
    if (type !== 'null') branch.enum = values;
  }
  if ('const' in schema) {
    if (!isOfType(schema.const, type)) return [];
    if (type !== 'null') branch.const = schema.const;
  }
  return [branch];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}
