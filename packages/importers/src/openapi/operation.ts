import type { Injection, PluginManifest } from '@quartermaster/plugin-kit';
import { createSchemaConverter } from './convert-schema.ts';
import { type CredentialNeeds, simplestNeeds } from './credential-needs.ts';
import { isJson, type Json, type OpenApiDocument, textOf } from './document.ts';
import { findImpossible } from './find-impossible.ts';
import { fitSchema } from './fit-schema.ts';
import { humanised } from './names.ts';
import { addParameter, type Parameter, readParameters } from './parameters.ts';
import { addBody } from './request-body.ts';
import { createRequestParts, mostInputs, type RequestParts, toTemplate } from './request-parts.ts';
import { readOutput } from './response.ts';
import { type Credentials, isCredentialParameter, securityOf } from './security.ts';
import type { Servers } from './servers.ts';

export interface Operation {
  /** The method in the document's form: `get`. */
  readonly method: string;
  readonly path: string;
  readonly item: Json;
  readonly operation: Json;
}

export interface ImportedOperation {
  /** The manifest without its id. */
  readonly plugin: Omit<PluginManifest, 'id' | 'request'> & { readonly request: Json };
  readonly host: string;
  readonly inject: readonly Injection[];
  readonly needs: CredentialNeeds;
  /** Sentences about differences from the document. */
  readonly notes: readonly string[];
}

export interface OperationContext {
  readonly document: OpenApiDocument;
  readonly credentials: Credentials;
  readonly servers: Servers;
  /** Default: shortens large schemas. */
  readonly fit?: typeof fitSchema;
}

const methods = new Set(['get', 'put', 'post', 'delete', 'patch', 'head']);
const safe = new Set(['get', 'head']);

/** Converts an operation to a declarative plugin, or returns why that is impossible. */
export function importOperation(
  asked: Operation,
  context: OperationContext,
): ImportedOperation | { readonly reason: string } {
  const { method, path, item, operation } = asked;
  if (!methods.has(method)) return { reason: `declarative plugins do not support the method ${method.toUpperCase()}` };
  const server = context.servers.find([operation.servers, item.servers]);
  if ('reason' in server) return server;
  const security = readSecurity(asked, context);
  if ('reason' in security) return security;
  const output = readOutput(context.document, operation.responses);
  const converter = createSchemaConverter(context.document);
  const parts = createRequestParts();
  const isAuthorised = security.inject.some(sendsAuthorization);
  const parameters = readParameters(context.document, item.parameters, operation.parameters).filter(
    (parameter) => !(isAuthorised && isAuthorization(parameter)),
  );
  if (parameters.length > mostInputs) return { reason: `it has more than ${mostInputs} parameters` };
  const secrets: Parameter[] = parameters.filter(isSecret);
  for (const parameter of parameters) {
    if (!secrets.includes(parameter)) addParameter(parameter, parts, { document: context.document, converter });
  }
  const hasBody = operation.requestBody !== undefined && !safe.has(method);
  const type = hasBody ? takeContentType(parts) : {};
  const refused = hasBody ? addBody(operation.requestBody, parts, { document: context.document, converter }) : null;
  if (refused !== null) return { reason: refused };
  if (parts.body === undefined) Object.assign(parts.headers, type);
  if (parts.bodyType === 'multipart' && hasSecretField(parts)) {
    return { reason: 'its multipart form contains a credential, which a declarative plugin cannot send' };
  }
  const own = [
    ...secrets.map((secret) => ownCredential(secret, security.token, context)),
    ...formSecrets(parts, security.token, context),
  ];
  const ownNeeded = secrets.flatMap(({ required }, index) => (required ? namesOf(own[index]) : []));
  const url = fillPath(path, parts);
  const { fit = fitSchema } = context;
  const input = fit(inputSchema(parts, converter.definitions()), context.document.checks);
  const impossible = findImpossible(input.schema, parts.body);
  if (impossible !== undefined) return { reason: impossible };
  const answered = fit(output.output_schema, context.document.checks);
  return {
    plugin: {
      name: titleOf(asked),
      description: describe(asked),
      effects: safe.has(method) ? 'read' : method === 'delete' ? 'destructive' : 'write',
      idempotent: method !== 'post' && method !== 'patch',
      // The roots of both schemas are objects.
      input_schema: input.schema as PluginManifest['input_schema'],
      output_schema: answered.schema as PluginManifest['output_schema'],
      request: toTemplate(parts, method.toUpperCase(), `${server.url}${url}`),
      ...(output.response === undefined ? {} : { response: output.response }),
    },
    host: new URL(server.url).host,
    inject: [...security.inject, ...own],
    needs: simplestNeeds(security.needs.map((names) => [...names, ...ownNeeded])),
    notes: [...converter.notes, ...output.notes, ...lossesOf(operation, hasBody, { input, output: answered })],
  };
}

/** A body has its own type. */
function takeContentType({ headers }: RequestParts): Record<string, string> {
  const found = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'content-type');
  for (const [name] of found) delete headers[name];
  return Object.fromEntries(found);
}

const namesOf = (one: Injection | undefined) => (one !== undefined && 'credential' in one ? [one.credential] : []);

type Fitted = ReturnType<typeof fitSchema>;

function lossesOf(
  { requestBody }: Json,
  hasBody: boolean,
  { input, output }: Record<'input' | 'output', Fitted>,
): string[] {
  return [
    ...(input.note === null ? [] : [`input: ${input.note}`]),
    ...(output.note === null ? [] : [`output: ${output.note}`]),
    ...(requestBody === undefined || hasBody
      ? []
      : ['GET requests have no body, so the body in the document is left out.']),
  ];
}

const maxDescription = 4_000;

function titleOf({ method, path, operation }: Operation): string {
  return (textOf(operation.summary) || humanised(textOf(operation.operationId) || `${method} ${path}`)).slice(0, 120);
}

function describe({ method, path, operation }: Operation): string {
  const texts = [textOf(operation.summary), textOf(operation.description)].filter((text) => text !== '');
  const [first = '', second = ''] = texts;
  const whole = second.startsWith(first) ? second : [first, second].filter((text) => text !== '').join('\n\n');
  const otherwise = `${humanised(textOf(operation.operationId) || `${method} ${path}`)}.`;
  return (whole || first || otherwise).slice(0, maxDescription);
}

function inputSchema(parts: RequestParts, $defs: Json): Json {
  const required = parts.required.length === 0 ? {} : { required: parts.required };
  const definitions = Object.keys($defs).length === 0 ? {} : { $defs };
  return { type: 'object', additionalProperties: false, ...required, properties: parts.properties, ...definitions };
}

/** Fills in the placeholders of the path, including those that the document does not describe. */
function fillPath(path: string, parts: RequestParts): string {
  const [withoutFragment = ''] = path.split('#', 1);
  return withoutFragment.replace(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const known = parts.path.get(name);
    if (known !== undefined) return known;
    const property = name.replace(/[^A-Za-z0-9_.-]/g, '_');
    parts.properties[property] ??= { type: 'string', description: `${humanised(name)}.` };
    if (!parts.required.includes(property)) parts.required.push(property);
    return `{${property}}`;
  });
}

interface Security {
  readonly inject: readonly Injection[];
  readonly needs: CredentialNeeds;
  /** The token of the operation, when it has exactly one. */
  readonly token: string | undefined;
}

const mostSchemes = 50;

/** Leaves out the alternatives that cannot be sent. An operation without any other cannot be called. */
function readSecurity(
  { operation }: Operation,
  { document, credentials }: OperationContext,
): Security | { readonly reason: string } {
  const stated = securityOf(document, operation);
  if (new Set(stated.flat()).size > mostSchemes) return { reason: `it names more than ${mostSchemes} credentials` };
  const alternatives = stated
    .map((names) => names.map((name) => credentials.scheme(name)))
    .filter((schemes) => !schemes.includes(undefined));
  if (stated.length > 0 && alternatives.length === 0) {
    const names = [...new Set(stated.flat())].slice(0, 5).map((name) => JSON.stringify(name));
    return {
      reason: `it needs credentials that a declarative plugin cannot send, or that are not described: ${names}`,
    };
  }
  const sets = alternatives.map((schemes) => new Set(schemes.flatMap((scheme) => scheme?.names ?? [])));
  const needs = sets.length === 0 ? [[]] : sets.map((set) => [...set]);
  const inject = new Map(
    alternatives
      .flat()
      .flatMap((scheme) => scheme?.inject ?? [])
      .map((one) => [JSON.stringify(one), one]),
  );
  const [token, ...more] = [...sets.flatMap((set) => [...set])].filter((name) => name === 'ACCESS_TOKEN');
  return { inject: [...inject.values()], needs, token: more.length === 0 ? token : undefined };
}

function isAuthorization({ in: place, name }: Parameter): boolean {
  return place === 'header' && name.toLowerCase() === 'authorization';
}

function sendsAuthorization(one: Injection): boolean {
  return one.in === 'header'
    ? String(one.name).toLowerCase() === 'authorization'
    : one.in === 'basic' || one.in === 'oauth2';
}

function isSecret(parameter: Parameter): boolean {
  if (isAuthorization(parameter)) return true;
  return (parameter.in === 'header' || parameter.in === 'query') && isCredentialParameter(parameter);
}

const whole = 'The whole value of the header "Authorization", such as "Bearer …".';

function ownCredential(parameter: Parameter, token: string | undefined, { credentials }: OperationContext): Injection {
  const described = isAuthorization(parameter)
    ? { ...parameter, description: `${parameter.description} ${whole}` }
    : parameter;
  const place = parameter.in === 'query' ? 'query' : 'header';
  const [injection] = credentials.forParameter(described, place, isAuthorization(parameter) ? undefined : token).inject;
  if (injection === undefined) throw new Error('a credential of a parameter is injected once');
  return injection;
}

function hasSecretField({ body, properties }: RequestParts): boolean {
  return Object.entries(Object(body)).some(([name, template]) => {
    const description = textOf(properties[String(template).slice(1, -1)]?.description);
    return isCredentialParameter({ name, description });
  });
}

/** Moves form fields that are credentials from the input to the injections. */
function formSecrets(parts: RequestParts, token: string | undefined, { credentials }: OperationContext): Injection[] {
  if (parts.bodyType !== 'form' || !isJson(parts.body)) return [];
  const result: Record<string, unknown> = {};
  const found: Injection[] = [];
  for (const [name, template] of Object.entries(parts.body)) {
    const input = String(template).slice(1, -1);
    const description = textOf(parts.properties[input]?.description);
    if (!isCredentialParameter({ name, description })) {
      result[name] = template;
      continue;
    }
    delete parts.properties[input];
    if (parts.required.includes(input)) parts.required.splice(parts.required.indexOf(input), 1);
    found.push(...credentials.forParameter({ name, description }, 'form', token).inject);
  }
  parts.body = result;
  return found;
}
