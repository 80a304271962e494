import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { createSchemaConverter } from './convert-schema.ts';
import { isJson, type Json, type OpenApiDocument, textOf } from './document.ts';
import { followRoot } from './fit-schema.ts';

export interface Output {
  readonly output_schema: Json;
  readonly response: ResponseMapping | undefined;
  readonly notes: readonly string[];
}

/** The output of an operation: the schema of its first 2xx response. Bytes become base64. */
export function readOutput(document: OpenApiDocument, responses: unknown): Output {
  const chosen = chooseResponse(document, responses);
  if (chosen === undefined) return statusOnly();
  const types = Object.keys(chosen.content).map((type) => type.toLowerCase());
  const json = types.find((type) => /^(\*\/\*|application\/\*|[^;]*[/+]json)/.test(type));
  if (json !== undefined) return ofJson(document, mediaOf(chosen.content, json), chosen.description);
  const [only = ''] = types;
  const description = chosen.description || 'The answer.';
  if (/[/+]xml/.test(only))
    return wrapped('xml', {
      type: 'object',
      description: `${description} Tree of {name, attributes, text, children}.`,
    });
  if (/^text\/|javascript|yaml|csv|urlencoded/.test(only)) return wrapped('text', { type: 'string', description });
  return wrapped('base64', { type: 'string', contentEncoding: 'base64', description: `${description} As base64.` });
}

function mediaOf(content: Json, type: string): unknown {
  return Object.entries(content).find(([name]) => name.toLowerCase() === type)?.[1];
}

function chooseResponse(
  document: OpenApiDocument,
  responses: unknown,
): { content: Json; description: string } | undefined {
  if (!isJson(responses)) return undefined;
  const codes = Object.keys(responses).filter((code) => /^2(\d\d|XX)$/i.test(code));
  for (const code of [...codes.sort(), ...('default' in responses && codes.length === 0 ? ['default'] : [])]) {
    const response = document.follow(responses[code]);
    if (!isJson(response) || !isJson(response.content) || Object.keys(response.content).length === 0) continue;
    return { content: response.content, description: textOf(response.description) };
  }
  return undefined;
}

function statusOnly(): Output {
  const status = { type: 'integer', description: 'HTTP status of the answer.' };
  const output_schema = { type: 'object', required: ['status'], properties: { status } };
  return { output_schema, response: { format: 'text', output: '{status: status}' }, notes: [] };
}

function wrapped(format: NonNullable<ResponseMapping['format']>, result: Json, $defs: Json = {}): Output {
  const output_schema = { type: 'object', required: ['result'], properties: { result }, ...definitions($defs) };
  return { output_schema, response: { format, output: '{result: body}' }, notes: [] };
}

function definitions($defs: Json): { $defs?: Json } {
  return Object.keys($defs).length === 0 ? {} : { $defs };
}

function ofJson(document: OpenApiDocument, media: unknown, description: string): Output {
  const converter = createSchemaConverter(document);
  const schema: unknown = Reflect.get(Object(media), 'schema');
  const converted = converter.property(isJson(schema) ? schema : {}, description || 'The answer');
  const $defs = converter.definitions();
  const root = followRoot(converted, $defs);
  const notes = [...converter.notes];
  if (!isObjectSchema(root)) return { ...wrapped('json', converted, $defs), notes };
  return {
    output_schema: { ...withKnownRequired(root), type: 'object', ...definitions($defs) },
    response: undefined,
    notes,
  };
}

/** Whether the schema allows objects only, as the root of a plugin's schema must. */
export function isObjectSchema(schema: Json): boolean {
  if (schema.type === undefined) return isJson(schema.properties) || Array.isArray(schema.allOf);
  return [schema.type].flat().includes('object') && ![schema.type].flat().includes('array');
}

/** Removes required names without a property at the root. Names of an `allOf` part are required in that part. */
export function withKnownRequired(schema: Json): Json {
  if (!Array.isArray(schema.required)) return schema;
  const required = schema.required.filter((name) => Object.hasOwn(Object(schema.properties), String(name)));
  return { ...schema, required };
}
