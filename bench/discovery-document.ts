/** The parts of a Discovery document of Google that describe requests. */
interface Discovery extends Resource {
  readonly rootUrl: string;
  readonly servicePath: string;
  readonly schemas?: Readonly<Record<string, DiscoverySchema>>;
}

interface Resource {
  readonly methods?: Readonly<Record<string, Method>>;
  readonly resources?: Readonly<Record<string, Resource>>;
}

interface Method {
  readonly httpMethod: string;
  readonly path: string;
  /** The path with one variable for each segment. */
  readonly flatPath?: string;
  readonly parameters?: Readonly<Record<string, DiscoverySchema & { readonly location: string }>>;
  readonly request?: DiscoverySchema;
  readonly mediaUpload?: { readonly protocols?: { readonly simple?: { readonly path: string } } };
}

interface DiscoverySchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly repeated?: boolean;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly items?: DiscoverySchema;
  readonly properties?: Readonly<Record<string, DiscoverySchema>>;
  readonly additionalProperties?: DiscoverySchema;
}

type Json = Record<string, unknown>;

export function isDiscovery(document: unknown): document is Discovery {
  return Object(document).kind === 'discovery#restDescription';
}

/** Converts what a Discovery document says about requests into OpenAPI. */
export function openApiOf(document: Discovery): Json {
  const { rootUrl, servicePath, schemas = {} } = document;
  const paths: Record<string, Json> = {};
  const add = (path: string, { httpMethod, parameters = {} }: Method, content: Json): void => {
    const inPath = Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name]) => ({
      ...{ name, in: 'path', required: true, schema: { type: 'string' } },
    }));
    const others = Object.entries(parameters).filter(([, { location }]) => location === 'query');
    const inQuery = others.map(([name, { required = false, ...parameter }]) => ({
      ...{ name, in: 'query', required, schema: schemaOf(parameter) },
    }));
    const requestBody = Object.keys(content).length === 0 ? {} : { requestBody: { content } };
    const responses = { 200: { description: 'OK', content: { 'application/json': { schema: {} } } } };
    const operation = { parameters: [...inPath, ...inQuery], ...requestBody, responses };
    paths[`/${path}`] = { ...paths[`/${path}`], [httpMethod.toLowerCase()]: operation };
  };
  for (const method of methodsOf(document)) {
    const { request } = method;
    const content = request === undefined ? {} : { 'application/json': { schema: schemaOf(request) } };
    add(servicePath + (method.flatPath ?? method.path), method, content);
    const upload = method.mediaUpload?.protocols?.simple?.path;
    if (upload !== undefined) add(upload.replace(/^\//, ''), method, { ...content, '*/*': { schema: {} } });
  }
  const named = Object.entries(schemas).map(([name, schema]) => [name, schemaOf(schema)]);
  // Every service is also at the common address.
  const servers = [...new Set([rootUrl, 'https://www.googleapis.com/'])].map((url) => ({ url }));
  const info = { title: rootUrl, version: '1' };
  return { openapi: '3.0.3', info, servers, paths, components: { schemas: Object.fromEntries(named) } };
}

function methodsOf({ methods = {}, resources = {} }: Resource): Method[] {
  return [...Object.values(methods), ...Object.values(resources).flatMap(methodsOf)];
}

function schemaOf(schema: DiscoverySchema): Json {
  if (schema.repeated === true) return { type: 'array', items: schemaOf({ ...schema, repeated: false }) };
  const { $ref, type, pattern, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return { $ref: `#/components/schemas/${$ref}` };
  const members = Object.entries(properties ?? {}).map(([name, member]) => [name, schemaOf(member)]);
  return {
    ...(type === undefined || type === 'any' ? {} : { type }),
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(items === undefined ? {} : { items: schemaOf(items) }),
    ...(members.length === 0 ? {} : { properties: Object.fromEntries(members) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: schemaOf(additionalProperties) }),
  };
}
