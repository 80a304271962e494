import * as contract from '@quartermaster/contract';
import type { FastifySchema } from 'fastify';
import { IsSchema } from 'typebox';
import type { OpenApiDocument } from './document.ts';

/** Maps the JSON of every schema that the contract exports to its name. */
const names = new Map(
  Object.entries(contract).flatMap(([name, value]) =>
    IsSchema(value) ? [[JSON.stringify(value), name] as const] : [],
  ),
);

/**
 * Marks a schema with its name until the document is complete, because the swagger plugin converts schemas before that.
 */
const nameKeyword = 'x-schema-name';
/** Keywords whose values are not schemas. */
const valueKeywords = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'required',
  'x-operation-text',
  'x-codeSamples',
]);

/** Returns the schemas of a route. Each schema that the contract exports gets a mark, at any depth. */
export function markSchemas<Schema extends FastifySchema | undefined>(schema: Schema): Schema {
  if (schema === undefined) return schema;
  const { body, response } = schema;
  return {
    ...schema,
    ...(body === undefined ? {} : { body: markSchema(body) }),
    ...(typeof response === 'object' && response !== null ? { response: mapMembers(response, markSchema) } : {}),
  };
}

export function markSchema(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(markSchema);
  const name = names.get(JSON.stringify(value));
  return { ...(name === undefined ? {} : { [nameKeyword]: name }), ...mapMembers(value, markSchema) };
}

/**
 * Moves each marked schema to `components.schemas` and leaves a reference, so that generated clients share one type.
 */
export function nameSchemas(document: OpenApiDocument): void {
  const schemas: Record<string, unknown> = {};
  function refer(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(refer);
    const { [nameKeyword]: name, ...schema } = value as Record<string, unknown>;
    if (typeof name !== 'string') return mapMembers(value, refer);
    if (!(name in schemas)) {
      schemas[name] = {}; // keeps its place in the order of first use
      schemas[name] = mapMembers(schema, refer);
    }
    return { $ref: `#/components/schemas/${name}` };
  }
  document.paths = refer(document.paths) as OpenApiDocument['paths']; // only schemas in it are replaced
  document.components = { ...(refer(document.components) as OpenApiDocument['components']), schemas };
}

function mapMembers(value: object, map: (member: unknown) => unknown): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, valueKeywords.has(key) ? member : map(member)]),
  );
}
