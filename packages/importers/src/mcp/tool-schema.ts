import { createSchemaConverter } from '../openapi/convert-schema.ts';
import { documentOf, type Json, type SchemaChecks } from '../openapi/document.ts';
import { fitSchema, followRoot } from '../openapi/fit-schema.ts';
import { withKnownRequired } from '../openapi/response.ts';

/** Converts a tool's schema to a plugin's schema, whose root is an object. The notes list what was lost. */
export function convertRoot(
  schema: Json,
  what: 'input' | 'output',
  checks: SchemaChecks,
): { readonly schema: Json; readonly notes: string[] } {
  const converter = createSchemaConverter(documentOf('2020-12', schema, checks));
  const { $schema: _, ...plain } = schema;
  const converted = converter.property(plain, what);
  const $defs = converter.definitions();
  const { description: __, ...root } = followRoot(converted, $defs);
  const whole = { ...withKnownRequired(root), type: 'object', ...(Object.keys($defs).length === 0 ? {} : { $defs }) };
  const fitted = fitSchema(whole, checks);
  const notes = [...converter.notes, ...(fitted.note === null ? [] : [fitted.note])];
  return { schema: fitted.schema, notes: notes.map((note) => `${what}: ${note}`) };
}
