import type { Injection, PluginManifest } from '@quartermaster/plugin-kit';
import { createSchemaConverter } from './convert-schema.ts';
import { isJson, type Json, type OpenApiDocument, textOf } from './document.ts';
import { fitSchema } from './fit-schema.ts';
import { humanised } from './names.ts';
import { addParameter, type Parameter, readParameters } from './parameters.ts';
import { addBody } from './request-body.ts';
import { createRequestParts, type RequestParts, toTemplate } from './request-parts.ts';
import { readOutput } from './response.ts';
import { type Credentials, isCredentialParameter, securityOf } from './security.ts';
import { findServer } from './servers.ts';

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
  /** The credentials that every security alternative needs. */
  readonly needed: ReadonlySet<string>;
  /** Sentences about differences from the document. */
  readonly notes: readonly string[];
}

export interface OperationContext {
  readonly document: OpenApiDocument;
  readonly credentials: Credentials;
  /** The URL that the user set. */
  readonly server: string | undefined;
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
  const server = findServer(context.document, [operation.servers, item.servers], context.server);
  if (server === undefined) return { reason: 'the document has no absolute server URL; add one with --server' };
  const output = readOutput(context.document, operation.responses);
  const converter = createSchemaConverter(context.document);
  const parts = createRequestParts();
  const security = readSecurity(asked, context);
  const parameters = readParameters(context.document, item.parameters, operation.parameters);
  const secrets: Parameter[] = parameters.filter(isSecret);
  for (const parameter of parameters) {
    if (!secrets.includes(parameter)) addParameter(parameter, parts, { document: context.document, converter });
  }
  const hasBody = operation.requestBody !== undefined && !safe.has(method);
  const refused = hasBody ? addBody(operation.requestBody, parts, { document: context.document, converter }) : null;
  if (refused !== null) return { reason: refused };
  if (parts.bodyType === 'multipart' && hasSecretField(parts)) {
    return { reason: 'its multipart form contains a credential, which a declarative plugin cannot send' };
  }
  const own = [
    ...secrets.map((secret) => ownCredential(secret, security.token, context)),
    ...formSecrets(parts, security.token, context),
  ];
  const url = fillPath(path, parts);
  const input = fitSchema(inputSchema(parts, converter.definitions()), context.document.checks);
  const answered = fitSchema(output.output_schema, context.document.checks);
  const cut = [input.note && `input: ${input.note}`, answered.note && `output: ${answered.note}`].filter(
    (note) => note !== null,
  );
  const ignored =
    operation.requestBody !== undefined && !hasBody
      ? ['GET requests have no body, so the body in the document is left out.']
      : [];
  return {
    plugin: {
      name: (textOf(operation.summary) || humanised(textOf(operation.operationId) || `${method} ${path}`)).slice(
        0,
        120,
      ),
      description: describe(asked),
      effects: safe.has(method) ? 'read' : method === 'delete' ? 'destructive' : 'write',
      idempotent: method !== 'post' && method !== 'patch',
      // The roots of both schemas are objects.
      input_schema: input.schema as PluginManifest['input_schema'],
      output_schema: answered.schema as PluginManifest['output_schema'],
      request: toTemplate(parts, method.toUpperCase(), `${server}${url}`),
      ...(output.response === undefined ? {} : { response: output.response }),
    },
    host: new URL(server).host,
    inject: [...security.inject, ...own],
    needed: security.needed,
    notes: [...converter.notes, ...output.notes, ...cut, ...ignored],
  };
}

const maxDescription = 4_000;

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
  readonly needed: ReadonlySet<string>;
  /** The token of the operation, when it has exactly one. */
  readonly token: string | undefined;
}

function readSecurity({ operation }: Operation, { document, credentials }: OperationContext): Security {
  const alternatives = securityOf(document, operation).map((names) => names.map((name) => credentials.scheme(name)));
  const sets = alternatives.map((schemes) => new Set(schemes.flatMap((scheme) => scheme?.names ?? [])));
  const [first = new Set<string>(), ...others] = sets;
  const needed = others.reduce((all, set) => all.intersection(set), first);
  const inject = new Map(
    alternatives
      .flat()
      .flatMap((scheme) => scheme?.inject ?? [])
      .map((one) => [JSON.stringify(one), one]),
  );
  const [token, ...more] = [...sets.flatMap((set) => [...set])].filter((name) => name === 'ACCESS_TOKEN');
  return { inject: [...inject.values()], needed, token: more.length === 0 ? token : undefined };
}

function isSecret(parameter: Parameter): boolean {
  return (parameter.in === 'header' || parameter.in === 'query') && isCredentialParameter(parameter);
}

function ownCredential(parameter: Parameter, token: string | undefined, { credentials }: OperationContext): Injection {
  const [injection] = credentials.forParameter(parameter, parameter.in === 'query' ? 'query' : 'header', token).inject;
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
