import type { ParameterStyle } from '@quartermaster/plugin-kit';
import type { SchemaConverter } from './convert-schema.ts';
import { isJson, isWritable, type Json, memberOf, type OpenApiDocument, textOf } from './document.ts';
import { isPlainObject, mergePlainParts } from './merge-all-of.ts';
import { addInput, mostInputs, type RequestParts } from './request-parts.ts';

interface Context {
  readonly document: OpenApiDocument;
  readonly converter: SchemaConverter;
}

/** Adds the body of an operation to the parts. @returns why it cannot be sent; null when it can */
export function addBody(value: unknown, parts: RequestParts, context: Context): string | null {
  const body = context.document.follow(value);
  if (!isJson(body) || !isJson(body.content)) return null;
  const chosen = chooseContent(body.content);
  if (chosen === undefined) return null;
  const { mediaType, media } = chosen;
  const wanted = { media, mediaType, isRequired: body.required === true, description: textOf(body.description) };
  if (isJsonType(mediaType)) return addFields(wanted, parts, { ...context, type: 'json' });
  if (isForm(mediaType)) return addFields(wanted, parts, { ...context, type: 'form' });
  if (isMultipart(mediaType)) return addFields(wanted, parts, { ...context, type: 'multipart' });
  if (isText(mediaType)) return addText(wanted, parts, context);
  if (mediaType.startsWith('multipart/')) return `declarative plugins cannot send a ${mediaType} body`;
  return addBytes(wanted, parts, context);
}

function isJsonType(mediaType: string): boolean {
  return /^(application\/json|[^/]+\/[^;]+\+json|\*\/\*|application\/\*)$/.test(mediaType);
}

/** Selects a media type. The order of preference is JSON, form, multipart form, text, bytes. */
function chooseContent(content: Json): { mediaType: string; media: Json } | undefined {
  const offered = Object.entries(content).map(([type, media]) => ({
    mediaType: type.split(';', 1)[0]?.trim().toLowerCase() ?? type,
    media: isJson(media) ? media : {},
  }));
  const rank = ({ mediaType }: { mediaType: string }) =>
    [isJsonType, isForm, isMultipart, isText, () => true].findIndex((is) => is(mediaType));
  return offered.sort((a, b) => rank(a) - rank(b))[0];
}

const isForm = (mediaType: string) => mediaType.endsWith('urlencoded');
const isMultipart = (mediaType: string) => mediaType === 'multipart/form-data';
const isText = (mediaType: string) => mediaType.startsWith('text/') || /[/+]xml$/.test(mediaType);

interface Wanted {
  readonly media: Json;
  readonly mediaType: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** Adds each field of an object as an input. Any other body becomes one input. */
function addFields(
  { media, mediaType, isRequired, description }: Wanted,
  parts: RequestParts,
  { document, converter, type }: Context & { type: 'json' | 'form' | 'multipart' },
): string | null {
  const schema = plainObject(document, media.schema, type !== 'json');
  if (schema !== undefined && !isRequired && Object.keys(schema.properties).length === 0) return null;
  parts.bodyType = type;
  if (type === 'json' && /\+json$/.test(mediaType)) parts.headers['Content-Type'] = mediaType;
  const needed = new Set(Array.isArray(schema?.required) ? schema.required.map(String) : []);
  // Separate fields cannot express that the body is either left out or complete.
  if (schema === undefined || (!isRequired && needed.size > 0 && type === 'json')) {
    if (type !== 'json') return 'its form is not described as an object';
    const name = addInput(parts, converter, { name: 'body', schema: media.schema, description, isRequired });
    parts.body = `{${name}}`;
    return null;
  }
  if (Object.keys(schema.properties).length > mostInputs) return `its body has more than ${mostInputs} fields`;
  const body: Record<string, string> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    if (Reflect.get(Object(document.follow(field)), 'readOnly') === true) continue;
    if (!isWritable(name)) {
      converter.notes.add(`The field ${JSON.stringify(name)} is left out: a manifest cannot contain this name.`);
      continue;
    }
    const file = type === 'multipart' ? fileField(document, field) : undefined;
    const wanted = { name, schema: file ?? field, description: '', isRequired: needed.has(name) };
    const input = addInput(parts, converter, wanted);
    body[name] = `{${input}}`;
    if (file !== undefined) parts.files[name] = describeFile({ name, input }, parts, { media, converter });
    const style = type === 'json' ? undefined : formStyle(media, name);
    if (style !== undefined) parts.styles.form[name] = style;
  }
  parts.body = body;
  return null;
}

/** The schema when it only lists properties; otherwise undefined. Only a form lists those of an `allOf`. */
function plainObject(
  document: OpenApiDocument,
  value: unknown,
  isForm: boolean,
): (Json & { properties: Json }) | undefined {
  const followed = document.follow(value);
  if (!isJson(followed)) return undefined;
  const schema = isForm && Array.isArray(followed.allOf) ? mergePlainParts(document, followed) : followed;
  if (schema === undefined || !isPlainObject(schema)) return undefined;
  const properties = isJson(schema.properties) ? schema.properties : {};
  return isForm || Object.keys(properties).length > 0 ? { ...schema, properties } : undefined;
}

/** Converts the encoding of a form field to a parameter style, as for query parameters. */
function formStyle(media: Json, name: string): ParameterStyle | undefined {
  const encoding: unknown = memberOf(media.encoding, name);
  if (!isJson(encoding)) return undefined;
  if (encoding.style === 'deepObject') return 'deep_object';
  if (encoding.style === 'spaceDelimited') return 'space';
  if (encoding.style === 'pipeDelimited') return 'pipe';
  if (/json/.test(textOf(encoding.contentType))) return 'json';
  return encoding.explode === false ? 'comma' : undefined;
}

/** The schema of file content in JSON: base64. */
const base64 = { type: 'string', contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/_-]*={0,2}$' } as const;

/** The input schema of a field that is a file or a list of files; undefined for other fields. */
function fileField(document: OpenApiDocument, field: unknown): Json | undefined {
  const schema = document.follow(field);
  if (!isJson(schema)) return undefined;
  const text = textOf(schema.description);
  const asBase64 = { ...base64, description: `${text === '' ? 'The file.' : text} As base64.` };
  if (isBinary(schema)) return asBase64;
  const { items, ...list } = schema;
  if (!isBinary(document.follow(items))) return undefined;
  return { ...list, items: { ...base64, description: 'A file as base64.' } };
}

/** Whether a schema means bytes: in OpenAPI 3.1 by a media type without an encoding, before that by a format. */
function isBinary(schema: unknown): boolean {
  if (!isJson(schema) || schema.contentEncoding !== undefined) return false;
  return (
    schema.format === 'binary' || (schema.contentMediaType !== undefined && (schema.type ?? 'string') === 'string')
  );
}

/** Adds an input for the name of the file. */
function describeFile(
  { name, input }: { name: string; input: string },
  parts: RequestParts,
  { media, converter }: { media: Json; converter: SchemaConverter },
): Json {
  const description = `Name of the file that is sent as ${name}.`;
  const schema = { type: 'string', minLength: 1, maxLength: 255 };
  const filename = addInput(parts, converter, { name: `${input}_name`, schema, description, isRequired: false });
  const type = textOf(Object(memberOf(media.encoding, name)).contentType);
  return { filename: `{${filename}}`, ...(/^[\w.+-]+\/[\w.+-]+$/.test(type) ? { content_type: type } : {}) };
}

function addBytes({ mediaType, isRequired, description }: Wanted, parts: RequestParts, { converter }: Context): null {
  const text = description === '' ? `The body, as ${mediaType}.` : description;
  const wanted = { name: 'body', schema: base64, description: `${text} As base64.`, isRequired };
  parts.body = `{${addInput(parts, converter, wanted)}}`;
  parts.bodyType = 'base64';
  if (/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) parts.headers['Content-Type'] = mediaType;
  return null;
}

function addText({ mediaType, isRequired, description }: Wanted, parts: RequestParts, { converter }: Context): null {
  const schema = { type: 'string' };
  const text = description === '' ? `The body, as ${mediaType}.` : description;
  const name = addInput(parts, converter, { name: 'body', schema, description: text, isRequired });
  parts.headers['Content-Type'] = mediaType;
  parts.body = `{${name}}`;
  return null;
}
