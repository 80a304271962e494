import type { ParameterStyle, RequestTemplate } from '@quartermaster/plugin-kit';
import type { SchemaConverter } from './convert-schema.ts';
import type { Json } from './document.ts';
import { freeName, propertyName } from './names.ts';

/** What the parameters and the body of an operation add up to: an input, and a request made from it. */
export interface RequestParts {
  readonly properties: Record<string, Json>;
  readonly required: string[];
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly cookies: Record<string, string>;
  readonly styles: Record<'path' | 'query' | 'headers' | 'cookies' | 'form', Record<string, ParameterStyle>>;
  /** Placeholders of the path, by the name the document gives them. */
  readonly path: Map<string, string>;
  /** Fields of the body that are files. */
  readonly files: Record<string, Json>;
  body: unknown;
  bodyType: RequestTemplate['body_type'];
}

export function createRequestParts(): RequestParts {
  return {
    ...{ properties: {}, required: [], query: {}, headers: {}, cookies: {}, path: new Map(), files: {} },
    styles: { path: {}, query: {}, headers: {}, cookies: {}, form: {} },
    ...{ body: undefined, bodyType: undefined },
  };
}

export interface NewInput {
  /** As the document says it. */
  readonly name: string;
  readonly schema: unknown;
  readonly description: string;
  readonly isRequired: boolean;
}

/** Adds a property to the input. @returns its name, which differs where another has it or nobody could */
export function addInput(parts: RequestParts, converter: SchemaConverter, input: NewInput): string {
  const name = freeName(propertyName(input.name), (taken) => Object.hasOwn(parts.properties, taken));
  const converted = converter.property(input.schema, input.name);
  parts.properties[name] =
    input.description === '' ? converted : { ...converted, description: describe(input, converted) };
  if (input.isRequired) parts.required.push(name);
  return name;
}

/** The parameter's own words, and what its schema adds to them. */
function describe({ description }: NewInput, converted: Json): string {
  const lastLine = typeof converted.description === 'string' ? (converted.description.split('\n').at(-1) ?? '') : '';
  const said = lastLine.includes('Default: ') ? lastLine.slice(lastLine.indexOf('Default: ')) : undefined;
  return said === undefined || /default/i.test(description) ? description : `${description} ${said}`;
}

/** The parts as a request template; members that say nothing are left out. */
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
