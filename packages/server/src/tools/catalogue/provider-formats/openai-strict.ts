import { isJsonObject } from '../../../platform/json/json-object.ts';
import { childrenOf } from '../schema/subschemas.ts';
import { flattenRoot } from './flatten-root.ts';
import {
  createLosses,
  type Defined,
  type FunctionFormat,
  type JsonSchema,
  type Losses,
  membersOf,
  textsIn,
} from './function-format.ts';
import { inlineReferences } from './inline-references.ts';
import { joinParts } from './join-parts.ts';
import { looseParameters, openaiHead } from './openai.ts';
import { withSingleTypes } from './portable-schema.ts';
import { type Rules, rewriteSchema } from './rewrite-schema.ts';

/**
 * The format of OpenAI's `tools[]` with `strict: true`: all properties are required and all objects closed. Optional properties may
 * be null, which a run treats as absent. A plugin that strict mode cannot represent is defined without it; the losses say so.
 */
export const openaiStrict: FunctionFormat = ({ plugin }) => {
  const losses = createLosses();
  const head = openaiHead(plugin, losses);
  const parameters = strictParameters(plugin.input_schema, losses);
  const excess =
    parameters === undefined ? 'strict mode cannot express a required part of the schema' : findExcess(parameters);
  if (parameters === undefined || excess !== undefined) return withoutStrictness({ plugin, reachesOut: false }, excess);
  return { definition: { type: 'function', function: { ...head, strict: true, parameters } }, losses: losses.list };
};

function withoutStrictness({ plugin }: Parameters<FunctionFormat>[0], reason = ''): Defined {
  const losses = createLosses();
  losses.add('unsupported', ['input_schema'], `Returned with "strict": false, because ${reason}.`);
  const head = openaiHead(plugin, losses);
  const parameters = looseParameters(plugin.input_schema, losses);
  return { definition: { type: 'function', function: { ...head, strict: false, parameters } }, losses: losses.list };
}

function strictParameters(schema: JsonSchema, losses: Losses): JsonSchema | undefined {
  const flat = flattenRoot(inlineReferences(schema), ['input_schema'], losses);
  const { $defs, ...root } = flat;
  const whole = $defs === undefined ? root : { ...root, $defs };
  return rewriteSchema(whole, ['input_schema'], { rules: strictRules, losses });
}

const supportedKeywords = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf', '$ref', '$defs'],
  ...['description', 'title', 'pattern', 'format', 'multipleOf', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]);
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);

const strictRules: Rules = {
  keeps: (keyword, schema) => {
    if (keyword === 'format') return typeof schema.format === 'string' && formats.has(schema.format);
    return supportedKeywords.has(keyword);
  },

  shape: (declared, path, losses) => {
    if (typeof declared === 'boolean') return undefined;
    const chosen = asAnyOf(joinParts(declared), path, losses);
    const schema = chosen === undefined ? undefined : withSingleTypes(chosen);
    if (schema === undefined || schema.allOf !== undefined) return undefined;
    if (!saysWhatItIs(schema)) return undefined;
    if (schema.type === 'array' && (schema.prefixItems !== undefined || !isJsonObject(schema.items))) return undefined;
    return schema.type === 'object' || schema.properties !== undefined ? closed(schema, path, losses) : schema;
  },

  finish: (schema, path, losses) => (schema.properties === undefined ? schema : allRequired(schema, path, losses)),
};

/** Converts `oneOf` to `anyOf`, because strict mode cannot require that exactly one alternative matches. */
function asAnyOf(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema | undefined {
  const { oneOf, ...rest } = schema;
  if (!Array.isArray(oneOf)) return schema;
  if (schema.anyOf !== undefined) return undefined;
  losses.add('rewritten', [...path, 'oneOf'], '"oneOf" was replaced by "anyOf".');
  return { ...rest, anyOf: oneOf };
}

function saysWhatItIs(schema: JsonSchema): boolean {
  return ['type', 'anyOf', 'enum', 'const', '$ref'].some((keyword) => schema[keyword] !== undefined);
}

/** Closes an object. Objects with arbitrary names only cannot be represented; known names can, without the others. */
function closed(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema | undefined {
  const { additionalProperties, patternProperties, ...rest } = schema;
  const isOpen =
    (additionalProperties !== undefined && additionalProperties !== false) || isJsonObject(patternProperties);
  const names = membersOf(schema.properties);
  if (names.length === 0 && path.length > 1 && additionalProperties !== false) return undefined;
  if (isOpen)
    losses.add('dropped', [...path, 'additionalProperties'], 'Strict mode allows only the listed properties.');
  return { ...rest, properties: isJsonObject(rest.properties) ? rest.properties : {}, additionalProperties: false };
}

function allRequired(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema {
  const required = new Set(textsIn(schema.required));
  const members = membersOf(schema.properties);
  const optional = members.filter(([name]) => !required.has(name)).map(([name]) => name);
  if (optional.length > 0) {
    const names = optional.map((name) => JSON.stringify(name)).join(', ');
    losses.add(
      'rewritten',
      [...path, 'required'],
      `Optional properties are required in strict mode and may be null: ${names}.`,
    );
  }
  const properties = members.map(
    // Rewritten members are schemas.
    ([name, child]) => [name, required.has(name) ? child : orNull(child as JsonSchema)] as const,
  );
  return { ...schema, properties: Object.fromEntries(properties), required: members.map(([name]) => name) };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (takesNull(schema)) return schema;
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  const { description, title, ...rest } = schema;
  const words = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  return { ...words, anyOf: [rest, { type: 'null' }] };
}

function takesNull(schema: JsonSchema): boolean {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((branch) => isJsonObject(branch) && branch.type === 'null');
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  return schema.type === 'null';
}

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
function findExcess(schema: JsonSchema): string | undefined {
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

/** The format of `tools[]` in OpenAI's Responses API: the members of a strict function are on the same level as its type. */
export const openaiResponses: FunctionFormat = (described) => {
  const { definition, losses } = openaiStrict(described);
  const { type, function: members } = definition;
  return { definition: { type, ...Object(members) }, losses };
};
