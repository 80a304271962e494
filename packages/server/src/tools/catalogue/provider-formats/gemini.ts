import { isJsonObject } from '../../../platform/json/json-object.ts';
import { flattenRoot } from './flatten-root.ts';
import {
  createLosses,
  type FunctionFormat,
  type JsonSchema,
  type Losses,
  membersOf,
  typesOf,
} from './function-format.ts';
import { inlineReferences } from './inline-references.ts';
import { joinParts } from './join-parts.ts';
import { looseParameters } from './openai.ts';
import { withSingleTypes } from './portable-schema.ts';
import { type Rules, rewriteSchema } from './rewrite-schema.ts';
import { toolName } from './tool-name.ts';

/**
 * The format of Gemini's function declarations. `parameters` supports a part of OpenAPI 3.0's schemas. A schema beyond that becomes
 * `parametersJsonSchema`, which only newer models and clients accept; the losses say so.
 */
export const gemini: FunctionFormat = ({ plugin }) => {
  const losses = createLosses();
  const head = { name: toolName(plugin.bundle_id, plugin.plugin_id), description: plugin.description };
  const flat = flattenRoot(inlineReferences(plugin.input_schema), ['input_schema'], losses);
  // A declaration without parameters must not have an empty object for them.
  const parameters =
    membersOf(flat.properties).length === 0
      ? flat
      : rewriteSchema(flat, ['input_schema'], { rules: geminiRules, losses });
  if (parameters !== undefined && membersOf(parameters.properties).length === 0) {
    return { definition: head, losses: losses.list };
  }
  if (parameters !== undefined) return { definition: { ...head, parameters }, losses: losses.list };
  const looser = createLosses();
  looser.add(
    'unsupported',
    ['input_schema'],
    'Returned as "parametersJsonSchema", because "parameters" cannot express the whole schema.',
  );
  const parametersJsonSchema = looseParameters(plugin.input_schema, looser);
  return { definition: { ...head, parametersJsonSchema }, losses: looser.list };
};

const supportedKeywords = new Set([
  ...['type', 'title', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf', 'pattern'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'minimum', 'maximum'],
]);
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

const geminiRules: Rules = {
  keeps: (keyword, schema) => {
    if (keyword === 'format') return formats[String(schema.type)]?.includes(String(schema.format)) === true;
    if (keyword === 'enum') return schema.type === 'string';
    // Gemini does not distinguish open from closed objects.
    return supportedKeywords.has(keyword);
  },

  shape: (declared, path, losses) => {
    if (typeof declared === 'boolean' || declared.$ref !== undefined) return undefined;
    const joined = joinParts(declared);
    if (joined.allOf !== undefined) return undefined;
    const { $defs: _, ...schema } = oneType(withConstants(joined), path, losses);
    const isUnion = Array.isArray(schema.anyOf);
    if (schema.type === undefined && !isUnion) return undefined;
    if (schema.type === 'array' && !isJsonObject(schema.items)) return undefined;
    if (schema.type === 'object' && membersOf(schema.properties).length === 0) return undefined;
    // Gemini refuses requests with a union in `items`, so only the first alternative is kept.
    return isUnion && path.at(-1) === 'items' ? firstOf(schema, path, losses) : schema;
  },

  // Gemini refuses objects without properties.
  finish: (schema, path) => {
    const isEmpty = schema.type === 'object' && membersOf(schema.properties).length === 0;
    return isEmpty && path.length > 1 ? undefined : schema;
  },
};

/** Converts `const` to an `enum` with one value, and null values to `nullable`. */
function withConstants(schema: JsonSchema): JsonSchema {
  const { const: only, ...rest } = schema;
  const listed = 'const' in schema && schema.enum === undefined ? { ...rest, enum: [only] } : schema;
  if (!Array.isArray(listed.enum)) return listed;
  const values = listed.enum.filter((value) => value !== null);
  const types = new Set(values.map((value) => typeof value));
  const type = listed.type ?? (types.size === 1 && types.has('string') ? 'string' : undefined);
  const nullable = values.length < listed.enum.length ? { nullable: true } : {};
  return { ...listed, ...(type === undefined ? {} : { type }), ...nullable, enum: values };
}

function oneType(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema {
  const nullFree = withoutNull(asAnyOf(schema, path, losses));
  const types = typesOf(nullFree) ?? [];
  if (types.length > 1) losses.add('rewritten', [...path, 'type'], 'A list of types was replaced by "anyOf".');
  return withSingleTypes(nullFree);
}

function asAnyOf(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema {
  const { oneOf, ...rest } = schema;
  if (!Array.isArray(oneOf) || schema.anyOf !== undefined) return schema;
  losses.add('rewritten', [...path, 'oneOf'], '"oneOf" was replaced by "anyOf".');
  return { ...rest, anyOf: oneOf };
}

/** Gemini has no null type; it marks another type as nullable. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const types = typesOf(schema)?.filter((type) => type !== 'null');
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf.filter((branch) => !isNull(branch)) : undefined;
  const nullable = types?.length !== typesOf(schema)?.length || branches?.length !== lengthOf(schema.anyOf);
  if (!nullable) return schema;
  const { anyOf: _, ...rest } = schema;
  const [only] = branches ?? [];
  if (branches?.length === 1 && isJsonObject(only)) return { ...withoutNull(only), ...rest, nullable: true };
  return {
    ...rest,
    ...(types === undefined ? {} : { type: types }),
    ...(branches === undefined ? {} : { anyOf: branches }),
    nullable: true,
  };
}

function lengthOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function isNull(branch: unknown): boolean {
  return isJsonObject(branch) && branch.type === 'null';
}

function firstOf(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema | undefined {
  const { anyOf, ...rest } = schema;
  const first = Array.isArray(anyOf) ? anyOf.find(isJsonObject) : undefined;
  if (first === undefined) return undefined;
  losses.add(
    'dropped',
    [...path, 'anyOf'],
    'Items cannot have alternatives in this format; only the first one is kept.',
  );
  return geminiRules.shape({ ...first, ...rest }, path, losses);
}
