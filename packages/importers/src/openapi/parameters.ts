import type { ParameterStyle } from '@quartermaster/plugin-kit';
import type { SchemaConverter } from './convert-schema.ts';
import { isJson, isWritable, type Json, type OpenApiDocument, textOf } from './document.ts';
import { addInput, type RequestParts } from './request-parts.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly description: string;
  readonly schema: unknown;
  readonly style: ParameterStyle | undefined;
  /** Text around the value in a path: `.{name}` or `;name={name}`. */
  readonly prefix: string;
}

/** Headers that describe the message. OpenAPI ignores them as parameters, but some APIs need the only value that a document allows. */
const messageHeaders = new Set(['accept', 'content-type']);

/** Headers that only the service sets. Plugins cannot send them. */
const connectionHeaders = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'keep-alive', 'te', 'trailer'],
  ...['proxy-authorization', 'proxy-connection', 'expect', 'accept-encoding'],
]);

/** The parameters of an operation and of its path. Those of the operation override the others. */
export function readParameters(document: OpenApiDocument, ...levels: readonly unknown[]): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const level of levels) {
    for (const item of Array.isArray(level) ? level : []) {
      const parameter = readParameter(document, item);
      if (parameter !== undefined) found.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  return [...found.values()];
}

const places = ['path', 'query', 'header', 'cookie'] as const;

function readParameter(document: OpenApiDocument, value: unknown): Parameter | undefined {
  const item = document.follow(value);
  const place = places.find((name) => name === Reflect.get(Object(item), 'in'));
  if (!isJson(item) || place === undefined || textOf(item.name) === '') return undefined;
  const name = textOf(item.name);
  const content = isJson(item.content) ? Object.values(item.content)[0] : undefined;
  const schema = item.schema ?? Reflect.get(Object(content), 'schema');
  return {
    name,
    in: place,
    required: item.required === true || place === 'path',
    description: textOf(item.description),
    schema,
    style: content === undefined ? styleOf(item, place) : 'json',
    prefix: place === 'path' ? prefixOf(textOf(item.style), name) : '',
  };
}

function prefixOf(style: string, name: string): string {
  if (style === 'label') return '.';
  return style === 'matrix' ? `;${name}=` : '';
}

/** Converts `style` and `explode` of OpenAPI to a parameter style; undefined for the default. */
function styleOf({ style, explode }: Json, place: Parameter['in']): ParameterStyle | undefined {
  const isForm = style === undefined ? place === 'query' || place === 'cookie' : style === 'form';
  if (style === 'deepObject') return 'deep_object';
  if (style === 'spaceDelimited') return explode === true ? 'repeat' : 'space';
  if (style === 'pipeDelimited') return explode === true ? 'repeat' : 'pipe';
  if (place === 'query') return isForm && explode !== false ? 'members' : 'comma';
  return explode === true ? 'pairs' : 'comma';
}

const sections = { query: 'query', header: 'headers', cookie: 'cookies' } as const;

/** Adds the parameter to the input and to its place in the request. */
export function addParameter(
  parameter: Parameter,
  parts: RequestParts,
  { document, converter }: { document: OpenApiDocument; converter: SchemaConverter },
): void {
  const { name, required, description, schema, style, prefix } = parameter;
  if (parameter.in !== 'path' && !isWritable(name)) {
    converter.notes.add(`The parameter ${JSON.stringify(name)} is left out: a manifest cannot contain this name.`);
    return;
  }
  if (parameter.in === 'header' && connectionHeaders.has(name.toLowerCase())) {
    converter.notes.add(`The header ${JSON.stringify(name)} is left out: the service sets it.`);
    return;
  }
  const isMessageHeader = parameter.in === 'header' && messageHeaders.has(name.toLowerCase());
  const constant = required || isMessageHeader ? onlyValue(document, schema, parameter.in === 'header') : undefined;
  if (constant !== undefined && parameter.in !== 'path') parts[sections[parameter.in]][name] = constant;
  if ((constant !== undefined && parameter.in !== 'path') || isMessageHeader) return;
  const input = addInput(parts, converter, { name, schema, description, isRequired: required });
  // Styles apply only to lists and objects.
  const needsStyle =
    style !== undefined && !isScalar(document, schema) && !(style === 'members' && isList(document, schema));
  if (parameter.in === 'path') {
    parts.path.set(name, `${prefix}{${input}}`);
    if (needsStyle) parts.styles.path[input] = style;
    return;
  }
  const section = sections[parameter.in];
  parts[section][name] = `{${input}}`;
  if (needsStyle) parts.styles[section][name] = style;
}

/** The text that a required parameter always has, or the default of a header; undefined when there is a choice. */
function onlyValue(document: OpenApiDocument, schema: unknown, isHeader: boolean): string | undefined {
  const { const: fixed, enum: choices, default: preset } = Object(document.follow(schema));
  const values = isHeader && preset !== undefined ? [preset] : (choices ?? [fixed]);
  const [value, ...others]: unknown[] = Array.isArray(values) ? values : [];
  const isText = typeof value === 'string' && value !== '' && !/[{}\p{Cc}]/u.test(value);
  return isText && others.length === 0 ? value : undefined;
}

function isScalar(document: OpenApiDocument, schema: unknown): boolean {
  const type: unknown = Reflect.get(Object(document.follow(schema)), 'type');
  const types = [type].flat().filter((one) => one !== 'null');
  return types.length > 0 && types.every((one) => ['string', 'number', 'integer', 'boolean'].includes(String(one)));
}

function isList(document: OpenApiDocument, schema: unknown): boolean {
  return [Reflect.get(Object(document.follow(schema)), 'type')].flat().includes('array');
}
