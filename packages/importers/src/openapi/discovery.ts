import { isJson, type Json, memberOf, textOf } from './document.ts';
import { humanised } from './names.ts';

/** Whether the value is a document of Google's Discovery format. */
export function isDiscovery(document: unknown): boolean {
  return isJson(document) && document.kind === 'discovery#restDescription';
}

/**
 * Converts a Discovery document to OpenAPI 3.1. Each method becomes an operation with its id without the name of the API, and its resource
 * becomes the tag. Uploads without metadata and downloads become operations of their own.
 */
export function openApiOf(document: Json): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const found of methodsOf(document, [])) {
    for (const { path, method, operation } of operationsOf(found, document)) {
      const item = paths[path] ?? {};
      if (!Object.hasOwn(item, method)) item[method] = operation;
      paths[path] = item;
    }
  }
  const schemas = members(document.schemas).map(([name, schema]) => [name, schemaOf(schema)]);
  return {
    openapi: '3.1.0',
    info: {
      title: textOf(document.title) || textOf(document.name) || 'Google API',
      version: textOf(document.version),
      description: textOf(document.description),
    },
    servers: [{ url: textOf(document.rootUrl) }],
    paths,
    components: { schemas: Object.fromEntries(schemas), securitySchemes: securitySchemesOf(document) },
  };
}

interface Method {
  readonly resources: readonly string[];
  readonly id: string;
  readonly method: Json;
}

function methodsOf(resource: Json, resources: readonly string[]): Method[] {
  const own = members(resource.methods).map(([name, method]) => ({
    resources,
    method,
    id: [...resources, name].join('.'),
  }));
  return [...own, ...members(resource.resources).flatMap(([name, child]) => methodsOf(child, [...resources, name]))];
}

interface Converted {
  readonly path: string;
  readonly method: string;
  readonly operation: Json;
}

function operationsOf({ resources, id, method }: Method, document: Json): Converted[] {
  const { request, response, description, scopes } = method;
  // `flatPath` has a variable for each segment, where `path` may have one for several.
  const path = `/${textOf(document.servicePath)}${textOf(method.flatPath) || textOf(method.path)}`.replace('//', '/');
  const known: Json = isJson(method.parameters) ? method.parameters : {};
  const convert = (operationId: string, at: string, { more = [], content, answer }: Variant): Converted => ({
    path: at,
    method: textOf(method.httpMethod).toLowerCase(),
    operation: {
      operationId,
      ...(resources.length === 0 ? {} : { tags: [resources.join('.')] }),
      description: textOf(description),
      security: securityOf(document, scopes),
      parameters: [...parametersOf(at, known, answer === bytes ? {} : document), ...more],
      ...(content === undefined ? {} : { requestBody: { required: true, content } }),
      responses: { 200: { description: 'The answer.', ...(answer === undefined ? {} : { content: answer }) } },
    },
  });
  const jsonOf = (value: unknown) => (isJson(value) ? { 'application/json': { schema: schemaOf(value) } } : undefined);
  const [content, answer] = [jsonOf(request), jsonOf(response)];
  const upload = uploadOf(method);
  const needsMedia = upload !== undefined && content === undefined;
  const uploads = [upload ?? []].flat().map((one) =>
    convert(needsMedia ? id : `${id}.upload`, one.path, {
      answer,
      content: one.content,
      more: [constant('uploadType')],
    }),
  );
  const canDownload = method.supportsMediaDownload === true;
  // The fragment tells the two operations of one path apart. It is not sent.
  const downloads =
    canDownload && answer !== undefined
      ? [convert(`${id}.download`, `${path}#media`, { answer: bytes, content, more: [constant('alt')] })]
      : [];
  const plain = { content, answer: answer ?? (canDownload ? bytes : undefined) };
  return [...(needsMedia ? [] : [convert(id, path, plain)]), ...uploads, ...downloads];
}

interface Variant {
  readonly more?: readonly Json[];
  readonly content: Json | undefined;
  readonly answer: Json | undefined;
}

const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

/** Sends the file alone: `uploadType=media`, `alt=media`. */
function constant(name: string): Json {
  return { name, in: 'query', required: true, schema: { type: 'string', enum: ['media'] } };
}

function uploadOf({ mediaUpload }: Json): { path: string; content: Json } | undefined {
  const path = textOf(memberOf(memberOf(memberOf(mediaUpload, 'protocols'), 'simple'), 'path'));
  if (path === '') return undefined;
  const accepted: unknown = memberOf(mediaUpload, 'accept');
  const types = (Array.isArray(accepted) ? accepted : []).map(textOf);
  const type = types.includes('message/*') ? 'message/rfc822' : types.find((one) => /^[\w.+-]+\/[\w.+-]+$/.test(one));
  return { path, content: { [type ?? 'application/octet-stream']: { schema: { type: 'string', format: 'binary' } } } };
}

function parametersOf(path: string, known: Json, document: Json): Json[] {
  const [plainPath = ''] = path.split('#', 1);
  const names = Array.from(plainPath.matchAll(/\{\+?([^{}]+)\}/g), ([, name = '']) => name);
  const whole = members(known).find(([name, { location }]) => location === 'path' && !names.includes(name))?.[1];
  const inPath = names.map((name) => {
    const { description, ...schema } = Object(memberOf(known, name));
    const part = whole === undefined ? undefined : `${humanised(name)}, a part of: ${textOf(whole.description)}`;
    return parameter(name, 'path', { type: 'string', ...schema, description: description ?? part });
  });
  const inQuery = members(known).filter(([, { location }]) => location === 'query');
  const fields = members(document.parameters).filter(([name]) => name === 'fields' && !Object.hasOwn(known, name));
  return [...inPath, ...[...inQuery, ...fields].map(([name, schema]) => parameter(name, 'query', schema))];
}

function parameter(name: string, place: 'path' | 'query', { description, required, ...schema }: Json): Json {
  return {
    name,
    in: place,
    description: textOf(description),
    required: place === 'path' || required === true,
    schema: schemaOf(schema),
  };
}

/** Methods without scopes accept the key of an application. */
function securityOf({ auth, parameters }: Json, scopes: unknown): Json[] {
  if (isJson(auth) && Array.isArray(scopes) && scopes.length > 0) return [{ oauth2: scopes }];
  return memberOf(parameters, 'key') === undefined ? [] : [{ key: [] }];
}

function securitySchemesOf({ auth }: Json): Json {
  const described = memberOf(memberOf(auth, 'oauth2'), 'scopes');
  const scopes = members(described).map(([name, { description }]) => [name, textOf(description)]);
  const authorizationCode = {
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scopes: Object.fromEntries(scopes),
  };
  return {
    oauth2: { type: 'oauth2', description: 'OAuth 2 of Google.', flows: { authorizationCode } },
    key: { type: 'apiKey', in: 'query', name: 'key', description: 'API key of a Google Cloud project.' },
  };
}

const copied = ['description', 'enum', 'pattern', 'format', 'readOnly', 'deprecated'] as const;

function schemaOf(schema: Json): Json {
  if (schema.repeated === true) {
    const { repeated: _, description, ...item } = schema;
    return { type: 'array', ...(description === undefined ? {} : { description }), items: schemaOf(item) };
  }
  const { $ref, type, items, additionalProperties, description } = schema;
  if (typeof $ref === 'string')
    return { $ref: `#/components/schemas/${$ref}`, ...(description === undefined ? {} : { description }) };
  const properties = members(schema.properties).map(([name, member]) => [name, schemaOf(member)]);
  return {
    ...(type === undefined || type === 'any' ? {} : { type }),
    ...Object.fromEntries(copied.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]]))),
    ...(schema.default === undefined ? {} : { default: defaultOf(type, schema.default) }),
    ...(type === 'string' ? {} : boundsOf(schema)),
    ...(isJson(items) ? { items: schemaOf(items) } : {}),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(isJson(additionalProperties) ? { additionalProperties: schemaOf(additionalProperties) } : {}),
  };
}

/** Discovery writes numbers and booleans as texts. */
function defaultOf(type: unknown, value: unknown): unknown {
  if (type === 'boolean') return value === 'true' || value === true;
  return (type === 'integer' || type === 'number') && Number.isFinite(Number(value)) ? Number(value) : value;
}

function boundsOf(schema: Json): Json {
  const bounds = ['minimum', 'maximum'].map((name): [string, number] => [name, Number(schema[name] ?? Number.NaN)]);
  return Object.fromEntries(bounds.filter(([, bound]) => Number.isFinite(bound)));
}

function members(value: unknown): Array<[string, Json]> {
  return (isJson(value) ? Object.entries(value) : []).filter((entry): entry is [string, Json] => isJson(entry[1]));
}
