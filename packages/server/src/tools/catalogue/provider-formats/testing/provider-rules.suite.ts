import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * The schemas that the providers accept, as schemas of schemas. They follow the documentation and the error messages of
 * the providers, and share no code with the definitions. `check…` throws for a definition that a provider would reject.
 */
type Json = Record<string, unknown>;

const name = { type: 'string', pattern: '^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$' };
const propertyNames = { pattern: '^[a-zA-Z0-9_.-]{1,64}$' };
const description = { type: 'string', minLength: 1 };
const schemas = (keyword: string) => ({
  [keyword]: { type: 'object', additionalProperties: { $ref: '#/$defs/schema' } },
});
const lists = (keyword: string) => ({ [keyword]: { type: 'array', minItems: 1, items: { $ref: '#/$defs/schema' } } });
const one = { $ref: '#/$defs/schema' };
const combinators = ['allOf', 'anyOf', 'oneOf'];
const without = (...keywords: string[]) => ({
  properties: Object.fromEntries(keywords.map((keyword) => [keyword, false])),
});

/** Any JSON Schema without a dialect. Several clients and models reject lists of types. */
const plainSchema = {
  type: 'object',
  properties: {
    ...{ ...schemas('properties'), ...schemas('$defs'), ...lists('anyOf'), ...lists('allOf'), ...lists('oneOf') },
    ...{ type: { type: 'string' }, items: one, not: one, $schema: false },
  },
};

/** Any JSON Schema without extensions and dialects. Each has one type, and arrays must declare their items. */
const loose = {
  type: 'object',
  properties: {
    ...{ ...schemas('properties'), ...schemas('$defs'), ...lists('anyOf'), ...lists('allOf'), ...lists('oneOf') },
    ...{ type: { type: 'string' }, items: one, not: one, $schema: false },
    additionalProperties: { anyOf: [{ type: 'boolean' }, one] },
  },
  patternProperties: { '^x-': false },
  if: { properties: { type: { const: 'array' } }, required: ['type'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['items'] },
};

const strict = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...{ ...schemas('properties'), ...schemas('$defs'), ...lists('anyOf') },
    ...{
      type: { type: 'string' },
      description: true,
      title: true,
      enum: true,
      const: true,
      required: true,
      items: one,
      additionalProperties: { const: false },
    },
    $ref: { type: 'string', pattern: '^#(/\\$defs/[A-Za-z0-9_]+)?$' },
    format: { enum: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'] },
    ...{
      pattern: true,
      multipleOf: true,
      maximum: true,
      minimum: true,
      exclusiveMaximum: true,
      exclusiveMinimum: true,
    },
    ...{ minItems: true, maxItems: true },
  },
  anyOf: [
    { required: ['type'] },
    { required: ['anyOf'] },
    { required: ['$ref'] },
    { required: ['enum'] },
    { required: ['const'] },
  ],
  allOf: [
    {
      if: { properties: { type: { const: 'object' } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['properties', 'required', 'additionalProperties'] },
    },
    {
      if: { properties: { type: { const: 'array' } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['items'] },
    },
  ],
};

const gemini = {
  type: 'object',
  additionalProperties: false,
  properties: {
    type: { enum: ['string', 'number', 'integer', 'boolean', 'array', 'object'] },
    format: { enum: ['date-time', 'float', 'double', 'int32', 'int64'] },
    ...{
      title: true,
      description: true,
      nullable: { type: 'boolean' },
      enum: { type: 'array', items: { type: 'string' } },
    },
    items: { allOf: [one, { required: ['type'], ...without(...combinators) }] },
    properties: { type: 'object', minProperties: 1, additionalProperties: one },
    ...{ ...lists('anyOf'), required: { type: 'array', items: { type: 'string' } }, pattern: { type: 'string' } },
    ...{ minItems: true, maxItems: true, minProperties: true, maxProperties: true, minLength: true, maxLength: true },
    ...{ minimum: true, maximum: true },
  },
  anyOf: [{ required: ['type'] }, { required: ['anyOf'] }],
  allOf: [
    {
      if: { properties: { type: { const: 'object' } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['properties'] },
    },
    {
      if: { properties: { type: { const: 'array' } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['items'] },
    },
  ],
};

function closedObject(properties: Json, optional: readonly string[] = [], $defs: Json = {}): Json {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', additionalProperties: false, required, properties, $defs };
}

const root = { allOf: [one, { required: ['type', 'properties'], properties: { type: { const: 'object' } } }] };
const openaiRoot = { allOf: [root, without(...combinators, 'not', 'enum')] };
const plainRoot = { allOf: [root, without(...combinators)] };
const openaiText = { ...description, maxLength: 1024 };

const parameter = closedObject({
  type: {
    enum: [
      ...['string', 'integer', 'number', 'boolean'],
      ...['string_array', 'integer_array', 'number_array', 'boolean_array'],
      'image_url',
      'file_url',
    ],
  },
  ...{ name: { type: 'string', minLength: 1 }, description: { type: 'string' }, required: { type: 'boolean' } },
});
const flat = { type: 'object', propertyNames, additionalProperties: parameter };

const strictFormats = new Set(['openai-strict', 'openai-responses']);

const rules: Readonly<Record<string, Json>> = {
  openai: closedObject(
    { type: { const: 'function' }, function: closedObject({ name, description: openaiText, parameters: openaiRoot }) },
    [],
    { schema: loose },
  ),
  'openai-strict': closedObject(
    {
      type: { const: 'function' },
      function: closedObject({ name, description: openaiText, strict: { const: true }, parameters: openaiRoot }),
    },
    [],
    { schema: strict },
  ),
  'openai-responses': closedObject(
    {
      ...{ type: { const: 'function' }, name, description: openaiText },
      ...{ strict: { const: true }, parameters: openaiRoot },
    },
    [],
    { schema: strict },
  ),
  anthropic: closedObject({ name, description, input_schema: plainRoot }, [], { schema: plainSchema }),
  gemini: closedObject({ name, description, parameters: root }, ['parameters'], { schema: gemini }),
  mcp: closedObject(
    {
      ...{ name, title: description, description, inputSchema: plainRoot, outputSchema: plainRoot },
      annotations: closedObject({
        ...{ title: description, readOnlyHint: { type: 'boolean' }, destructiveHint: { type: 'boolean' } },
        ...{ idempotentHint: { type: 'boolean' }, openWorldHint: { type: 'boolean' } },
      }),
    },
    [],
    { schema: plainSchema },
  ),
  taskingai: closedObject({
    ...{ object: { const: 'Plugin' }, bundle_id: { type: 'string' }, plugin_id: { type: 'string' } },
    ...{ name: description, description, input_schema: flat, output_schema: flat },
  }),
};

const engine = new Ajv2020({ strict: false, allErrors: false });
const checks = Object.fromEntries(Object.entries(rules).map(([format, rule]) => [format, engine.compile(rule)]));

/** Throws when the provider would reject the definition. */
export function assertTaken(format: string, definition: unknown): void {
  const check = checks[format];
  assert.ok(check !== undefined, `no rules for ${format}`);
  assert.ok(
    check(definition),
    `${format}: ${JSON.stringify(check.errors?.slice(0, 3))} in ${JSON.stringify(definition)}`,
  );
  for (const schema of objectsOf(definition)) {
    if (!strictFormats.has(format) || !isJson(schema.properties) || schema.additionalProperties !== false) continue;
    assert.deepEqual(schema.required, Object.keys(schema.properties), 'strict: every property is required');
  }
  for (const schema of schemasOf(definition)) assert.ok(new Ajv2020({ strict: false }).validateSchema(schema), format);
}

/** Returns the JSON Schemas of a definition. Those of Gemini use another dialect. */
function schemasOf(definition: unknown): Json[] {
  if (!isJson(definition)) return [];
  const { input_schema, inputSchema, outputSchema, parametersJsonSchema, object } = definition;
  const inner = isJson(definition.function) ? definition.function.parameters : undefined;
  const found = [
    object === 'Plugin' ? undefined : input_schema,
    inputSchema,
    outputSchema,
    parametersJsonSchema,
    inner,
  ];
  return found.filter(isJson);
}

function objectsOf(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return isJson(value) ? [value, ...Object.values(value).flatMap(objectsOf)] : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
