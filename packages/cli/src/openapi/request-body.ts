import type { ParameterStyle } from '@quartermaster/plugin-kit';
import type { SchemaConverter } from './convert-schema.ts';
import { isJson, type Json, type OpenApiDocument, textOf } from './document.ts';
import { addInput, type RequestParts } from './request-parts.ts';

interface Context {
  readonly document: OpenApiDocument;
  readonly converter: SchemaConverter;
}

/** Adds the body of an operation to the parts. @returns why it cannot be sent, null when it can */
export function addBody(value: unknown, parts: RequestParts, context: Context): string | null {
  const body = context.document.follow(value);
  if (!isJson(body) || !isJson(body.content)) return null;
  const chosen = chooseContent(body.content);
  if (chosen === undefined) return null;
  const { mediaType, media } = chosen;
  const wanted = { media, mediaType, isRequired: body.required === true, description: textOf(body.description) };
  if (isJsonType(mediaType)) return addFields(wanted, parts, { ...context, type: 'json' });
  if (mediaType === 'application/x-www-form-urlencoded') return addFields(wanted, parts, { ...context, type: 'form' });
  if (mediaType.startsWith('text/') || /[/+]xml$/.test(mediaType)) return addText(wanted, parts, context);
  return `its body is ${mediaType}, which a request as data cannot send`;
}

function isJsonType(mediaType: string): boolean {
  return /^(application\/json|[^/]+\/[^;]+\+json|\*\/\*|application\/\*)$/.test(mediaType);
}

/** JSON where there is a choice, then a form, then a text. */
function chooseContent(content: Json): { mediaType: string; media: Json } | undefined {
  const offered = Object.entries(content).map(([type, media]) => ({
    mediaType: type.split(';', 1)[0]?.trim().toLowerCase() ?? type,
    media: isJson(media) ? media : {},
  }));
  const rank = ({ mediaType }: { mediaType: string }) =>
    isJsonType(mediaType) ? 0 : mediaType.endsWith('urlencoded') ? 1 : mediaType.startsWith('text/') ? 2 : 3;
  return offered.sort((a, b) => rank(a) - rank(b))[0];
}

interface Wanted {
  readonly media: Json;
  readonly mediaType: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The fields of an object become inputs of their own; any other body is one input. */
function addFields(
  { media, mediaType, isRequired, description }: Wanted,
  parts: RequestParts,
  { document, converter, type }: Context & { type: 'json' | 'form' },
): string | null {
  const schema = plainObject(document, media.schema);
  parts.bodyType = type;
  if (type === 'json' && /\+json$/.test(mediaType)) parts.headers['Content-Type'] = mediaType;
  const needed = new Set(Array.isArray(schema?.required) ? schema.required.map(String) : []);
  // Left out as a whole or given as a whole: fields of its own could not say so.
  if (schema === undefined || (!isRequired && needed.size > 0 && type === 'json')) {
    if (type === 'form') return 'its form is no plain object';
    const name = addInput(parts, converter, { name: 'body', schema: media.schema, description, isRequired });
    parts.body = `{${name}}`;
    return null;
  }
  const body: Record<string, string> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    if (Reflect.get(Object(document.follow(field)), 'readOnly') === true) continue;
    const wanted = { name, schema: field, description: '', isRequired: needed.has(name) };
    body[name] = `{${addInput(parts, converter, wanted)}}`;
    const style = type === 'form' ? formStyle(media, name) : undefined;
    if (style !== undefined) parts.styles.form[name] = style;
  }
  parts.body = body;
  return null;
}

/** The schema when all it says is which fields there are. */
function plainObject(document: OpenApiDocument, value: unknown): (Json & { properties: Json }) | undefined {
  const schema = document.follow(value);
  if (!isJson(schema) || !isJson(schema.properties) || Object.keys(schema.properties).length === 0) return undefined;
  const said = Object.entries(schema).filter(([keyword]) => !keyword.startsWith('x-') && !remarks.has(keyword));
  const isPlain = said.every(([keyword, member]) =>
    keyword === 'additionalProperties' ? typeof member === 'boolean' : fields.has(keyword),
  );
  return isPlain && [schema.type ?? 'object'].flat().includes('object')
    ? { ...schema, properties: schema.properties }
    : undefined;
}

const remarks = new Set([
  'title',
  'description',
  'example',
  'examples',
  'xml',
  'externalDocs',
  'deprecated',
  'default',
]);
const fields = new Set(['type', 'properties', 'required']);

/** Fields of a form are written as parameters of a query are. */
function formStyle(media: Json, name: string): ParameterStyle | undefined {
  const encoding: unknown = Reflect.get(Object(media.encoding), name);
  if (!isJson(encoding)) return undefined;
  if (encoding.style === 'deepObject') return 'deep_object';
  if (encoding.style === 'spaceDelimited') return 'space';
  if (encoding.style === 'pipeDelimited') return 'pipe';
  if (/json/.test(textOf(encoding.contentType))) return 'json';
  return encoding.explode === false ? 'comma' : undefined;
}

function addText({ mediaType, isRequired, description }: Wanted, parts: RequestParts, { converter }: Context): null {
  const schema = { type: 'string' };
  const said = description === '' ? `The body, as ${mediaType}.` : description;
  const name = addInput(parts, converter, { name: 'body', schema, description: said, isRequired });
  parts.headers['Content-Type'] = mediaType;
  parts.body = `{${name}}`;
  return null;
}
