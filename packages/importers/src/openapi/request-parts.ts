import type { ParameterStyle, RequestTemplate } from '@quartermaster/plugin-kit';
import type { SchemaConverter } from './convert-schema.ts';
import type { Json } from './document.ts';
import { freeName, propertyName } from './names.ts';

/** The input and the request that the parameters and the body of an operation form together. */
export interface RequestParts {
  readonly properties: Record<string, Json>;
  readonly required: string[];
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly cookies: Record<string, string>;
  readonly styles: Record<'path' | 'query' | 'headers' | 'cookies' | 'form', Record<string, ParameterStyle>>;
  /** The placeholders of the path by their names in the document. */
  readonly path: Map<string, string>;
  /** The body fields that are files. */
  readonly files: Record<string, Json>;
  body: unknown;
  bodyType: RequestTemplate['body_type'];
}

/** Of one operation. */
export const mostInputs = 1_000;

export function createRequestParts(): RequestParts {
  return {
    properties: {},
    required: [],
    query: {},
    headers: {},
    cookies: {},
    path: new Map(),
    files: {},
    styles: { path: {}, query: {}, headers: {}, cookies: {}, form: {} },
    body: undefined,
    bodyType: undefined,
  };
}

export interface NewInput {
  /** The name in the document. */
  readonly name: string;
  readonly schema: unknown;
  readonly description: string;
  readonly isRequired: boolean;
}

/** Adds a property to the input. @returns its name, which differs when the original is taken or not allowed */
export function addInput(parts: RequestParts, converter: SchemaConverter, input: NewInput): string {
  const name = freeName(propertyName(input.name), (taken) => Object.hasOwn(parts.properties, taken));
  const converted = converter.property(input.schema, input.name);
  parts.properties[name] =
    input.description === '' ? converted : { ...converted, description: describe(input, converted) };
  if (input.isRequired) parts.required.push(name);
  return name;
}

/** Combines the parameter's description with the default that its schema mentions. */
function describe({ description }: NewInput, converted: Json): string {
  const lastLine = typeof converted.description === 'string' ? (converted.description.split('\n').at(-1) ?? '') : '';
  const defaultNote = lastLine.includes('Default: ') ? lastLine.slice(lastLine.indexOf('Default: ')) : undefined;
  return defaultNote === undefined || /default/i.test(description) ? description : `${description} ${defaultNote}`;
}

/** Converts the parts to a request template without empty members. */
export function toTemplate(parts: RequestParts, method: string, url: string): Json {
  const styles = withoutEmpty(parts.styles);
  return {
    method,
    url,
    ...withoutEmpty({ query: parts.query, headers: parts.headers, cookies: parts.cookies }),
    ...(parts.body === undefined ? {} : { body: parts.body }),
    ...(parts.bodyType === undefined ? {} : { body_type: parts.bodyType }),
    ...withoutEmpty({ files: parts.files }),
    ...(Object.keys(styles).length === 0 ? {} : { styles }),
  };
}

function withoutEmpty(members: Readonly<Record<string, object>>): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => Object.keys(value).length > 0));
}
