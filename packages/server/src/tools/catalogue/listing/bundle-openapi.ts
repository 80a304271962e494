import { ErrorAnswer, type Plugin } from '@quartermaster/contract';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import type { CompiledBundle } from '../catalogue.ts';
import { inLanguage } from '../manifest/languages.ts';
import type { JsonSchema } from '../provider-formats/function-format.ts';
import { inlineReferences } from '../provider-formats/inline-references.ts';
import { pluginRecord } from './plugin-record.ts';

export interface BundleOpenApi {
  readonly bundle: CompiledBundle;
  readonly language: string;
  readonly namesFiles: boolean;
  /** The URL under which clients reach this address. */
  readonly publicUrl: string;
}

/** The maximum length, in characters, of a description that clients accept. Source: GPT Actions. */
const maxOperationDescription = 300;
const maxPropertyDescription = 700;

/** The header that carries the credentials: base64url of a JSON object. */
const credentialsHeader = 'X-Plugin-Credentials';

/**
 * Describes a bundle as an OpenAPI 3.1 document with one operation for each plugin. The request body is the input and the response
 * is the output. Yields the JSON text in pieces, one for each plugin.
 */
export function* describeBundleAsOpenApi({ bundle, publicUrl, ...options }: BundleOpenApi): Generator<string> {
  const { id, manifest, plugins } = bundle;
  const { language } = options;
  const schemas: Record<string, unknown> = { Error: { ...ErrorAnswer } };
  const schema = manifest.credentials_schema;
  const head = {
    openapi: '3.1.0',
    info: {
      title: inLanguage(manifest.name, language),
      description: inLanguage(manifest.description, language),
      version: manifest.version,
    },
    servers: [{ url: publicUrl }],
    ...(schema === undefined ? {} : { security: securityOf(schema) }),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"paths":{`;
  let comma = '';
  for (const plugin of plugins.values()) {
    const path = `/v1/bundles/${id}/plugins/${plugin.id}/execute`;
    const record = pluginRecord(id, plugin.manifest, options);
    yield `${comma}${JSON.stringify(path)}:${JSON.stringify({ post: operation(record, schemas) })}`;
    comma = ',';
  }
  const components = {
    schemas,
    ...(schema === undefined ? {} : { securitySchemes: { pluginCredentials: credentialsScheme(schema) } }),
  };
  yield `},${JSON.stringify({ components }).slice(1)}`;
}

function operation(plugin: Plugin, schemas: Record<string, unknown>) {
  const id = plugin.plugin_id;
  const input = hoist(plugin.input_schema, `${id}_input`, schemas);
  const output = hoist(plugin.output_schema, `${id}_output`, schemas);
  const error = { $ref: '#/components/schemas/Error' };
  return {
    operationId: id,
    summary: plugin.name,
    description: shortened(plugin.description, maxOperationDescription),
    'x-openai-isConsequential': plugin.effects !== 'read',
    requestBody: { required: true, content: { 'application/json': { schema: input } } },
    responses: {
      200: { description: 'The output of the plugin.', content: { 'application/json': { schema: output } } },
      default: { description: 'What went wrong.', content: { 'application/json': { schema: error } } },
    },
  };
}

/** Moves recursive definitions to the components, because a reference must start at the document's root. */
function hoist(schema: JsonSchema, name: string, schemas: Record<string, unknown>): JsonSchema {
  const { $defs, $schema: _, ...root } = inlineReferences(schema);
  for (const [definition, part] of Object.entries($defs ?? {})) schemas[`${name}_${definition}`] = adapt(part, name);
  // The root is an object, and adapting it keeps it one.
  return adapt(root, name) as JsonSchema;
}

/** Shortens descriptions and renames references, at any depth of a schema. */
function adapt(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => adapt(item, name));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (data.has(key)) return [key, member];
      if (key === 'description' && typeof member === 'string') return [key, shortened(member, maxPropertyDescription)];
      if (key !== '$ref' || typeof member !== 'string') return [key, adapt(member, name)];
      return [key, member.replace(/^#\/\$defs\//, `#/components/schemas/${name}_`)];
    }),
  );
}

const data = new Set(['enum', 'const', 'default', 'examples']);

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

function securityOf(schema: JsonSchema) {
  const isOptional = !Array.isArray(schema.required) || schema.required.length === 0;
  return [...(isOptional ? [{}] : []), { pluginCredentials: [] }];
}

function credentialsScheme(schema: JsonSchema) {
  const names = Object.keys(isJsonObject(schema.properties) ? schema.properties : {});
  const example = `{${names.map((name) => `"${name}":"…"`).join(',')}}`;
  return {
    type: 'apiKey',
    in: 'header',
    name: credentialsHeader,
    description: `The credentials as base64url of JSON: ${example}`,
  };
}
