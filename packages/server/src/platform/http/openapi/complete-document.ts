import { consoleTokenHeader, csrfHeader, ErrorAnswer, errorCodes } from '@quartermaster/contract';
import {
  type Example,
  type ExampleVariable,
  exampleVariables,
  type OperationText,
  textKeyword,
} from '@quartermaster/contract/operations';
import { type CodeSample, listOperations, type OpenApiDocument, type Placed } from './document.ts';
import { markSchema, nameSchemas } from './named-schemas.ts';

/**
 * Adds scopes, examples, errors and named schemas to the document that the schemas of the routes produce. Changes the
 * document in place.
 * @param address the variable that contains the URL of the service in examples
 */
export function completeDocument(document: OpenApiDocument, address: 'FILES' | 'PLUGINS'): OpenApiDocument {
  for (const placed of listOperations(document)) {
    const { operation } = placed;
    const text = operation[textKeyword];
    if (text !== undefined) {
      delete operation[textKeyword];
      addScope(placed, text);
      addExamples(placed, text, address);
    }
    for (const response of Object.values(operation.responses)) {
      if (response.description === 'Default Response') response.description = 'Success.';
    }
    operation.responses = { ...operation.responses, ...errorReferences(placed) };
  }
  document.components.responses = errorComponents();
  nameSchemas(document);
  return document;
}

/** OpenAPI 3.1 allows a requirement to list the scopes of a bearer token. The description repeats them for readers. */
function addScope({ operation, security }: Placed, { scope, description }: OperationText): void {
  const isOpen = security.length === 0 || security.some((needed) => Object.keys(needed).length === 0);
  const session = security.some((needed) => 'session' in needed) ? 'the session of the administrator' : undefined;
  const key = scope === undefined ? undefined : `a key with the scope \`${scope}\``;
  const needed = [key, session].filter((one) => one !== undefined).join(', or ');
  const sentence = isOpen ? key && `A key that is sent needs the scope \`${scope}\`.` : `Needs ${needed}.`;
  const text = [description, sentence].filter(Boolean).join('\n\n');
  if (text !== '') operation.description = text;
  if (scope === undefined) return;
  operation.security = security.map((one) => ('apiKey' in one ? { ...one, apiKey: [scope] } : one));
}

function addExamples(placed: Placed, { summary, examples }: OperationText, address: 'FILES' | 'PLUGINS'): void {
  const { operation } = placed;
  operation['x-codeSamples'] = Object.values(examples).map((example): CodeSample => {
    return { lang: 'Shell', label: example.summary ?? summary, source: writeCodeSample(placed, example, address) };
  });
  const content = operation.requestBody?.content['application/json'];
  const bodies = Object.entries(examples).filter(([, { body }]) => body !== undefined);
  if (content !== undefined && bodies.length > 0) {
    const shown = bodies.map(([name, one]) => [name, { summary: one.summary ?? summary, value: showValue(one.body) }]);
    content.examples = Object.fromEntries(shown);
  }
  const [first = {}] = Object.values(examples);
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === 'path') parameter.example = showValue(pathValue(parameter.name, first));
  }
}

/** Error responses that depend on the input of an operation; `default` represents all others. */
const responses = {
  Unauthorized: { status: 401, isPossible: ({ security }: Placed) => security.length > 0 },
  Forbidden: { status: 403, isPossible: ({ security }: Placed) => security.length > 0 },
  NotFound: { status: 404, isPossible: ({ path }: Placed) => path.includes('{') },
  Invalid: {
    status: 422,
    isPossible: ({ operation }: Placed) => operation.parameters !== undefined || operation.requestBody !== undefined,
  },
} as const;

/** Returns the components that `errorReferences` refers to. */
function errorComponents(): NonNullable<OpenApiDocument['components'][string]> {
  const content = { 'application/json': { schema: markSchema(ErrorAnswer) } };
  const named = Object.entries(responses).map(([name, { status }]) => [
    name,
    { description: codesOf(status), content },
  ]);
  const description = 'Any other refusal or failure: 400, 405, 408, 409, 413, 415, 429, 500 to 507. `code` says which.';
  return { ...Object.fromEntries(named), Error: { description, content } };
}

/** Returns nothing for an operation that describes its errors itself. */
function errorReferences(placed: Placed): Record<string, { $ref: string }> {
  if (placed.operation.responses.default !== undefined) return {};
  const possible = Object.entries(responses).filter(([, { isPossible }]) => isPossible(placed));
  const entries = possible.map(([name, { status }]) => [String(status), { $ref: `#/components/responses/${name}` }]);
  return { ...Object.fromEntries(entries), default: { $ref: '#/components/responses/Error' } };
}

function codesOf(wanted: number): string {
  return Object.entries(errorCodes)
    .filter(([, { status }]) => status === wanted)
    .map(([code, { meaning }]) => `\`${code}\`: ${meaning}`)
    .join(' ');
}

/**
 * Writes the example as shell commands. Leading comments explain the origin of each variable.
 * @param address the variable that contains the URL of the service
 */
function writeCodeSample(placed: Placed, example: Example, address: 'FILES' | 'PLUGINS'): string {
  const url = `$${address}${fillPath(placed.path, example)}${queryOf(example)}`;
  const options = [
    ...(placed.method === methodOf(example) ? [] : [`-X ${placed.method}`]),
    ...authorization(placed),
    ...Object.entries(example.headers ?? {}).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(example.keepsCookies === true ? ['-c cookies.txt'] : []),
    ...(example.body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(example.body))}`]),
    ...formOf(example),
    ...(example.content === undefined ? [] : ['--data-binary @-']),
  ];
  const piped = example.form?.file ?? example.content;
  const input = piped === undefined ? '' : `printf '${piped.replaceAll('\n', '\\n')}' | `;
  const command = `${input}${['curl', quote(url)].join(' ')}${options.map((option) => ` \\\n  ${option}`).join('')}`;
  return [...meaningsOf(command), command].join('\n');
}

/** Returns the value for the document: JSON in which realistic values replace the variables. */
function showValue(value: unknown): unknown {
  if (typeof value === 'string')
    return isVariable(value.slice(1)) ? exampleVariables[value.slice(1) as ExampleVariable].value : value;
  if (Array.isArray(value)) return value.map(showValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, showValue(member)]));
}

/** Returns the variable for a path parameter that the example does not provide. */
function pathValue(name: string, example: Example): string {
  return example.path?.[name] ?? `$${name.toUpperCase()}`;
}

const variable = /\$([A-Z][A-Z_]+)/g;

function isVariable(name: string): name is ExampleVariable {
  return Object.hasOwn(exampleVariables, name);
}

/** Returns the method that curl uses by default. */
function methodOf({ body, form, content }: Example): string {
  return [body, form, content].every((sent) => sent === undefined) ? 'GET' : 'POST';
}

function fillPath(path: string, example: Example): string {
  return path.replace(/\{([^{}]+)\}/g, (_, name: string) => pathValue(name, example));
}

function queryOf({ query }: Example): string {
  // The shell replaces variables, so their `$` is not encoded.
  return query === undefined ? '' : `?${new URLSearchParams(query)}`.replaceAll('%24', '$');
}

function authorization({ security, method }: Placed): string[] {
  if (security.some((needed) => 'apiKey' in needed)) return ['-H "Authorization: Bearer $QM_API_KEY"'];
  if (!security.some((needed) => 'session' in needed)) return [];
  const isUnsafe = method !== 'GET';
  return [
    '-b cookies.txt',
    `-H "${consoleTokenHeader}: $CONSOLE_TOKEN"`,
    ...(isUnsafe ? [`-H '${csrfHeader}: 1'`] : []),
  ];
}

function formOf({ form }: Example): string[] {
  return form === undefined ? [] : [`-F purpose=${form.purpose}`, `-F 'file=@-;filename=${form.fileName}'`];
}

/** Uses double quotes for plain text and variables, otherwise single quotes that end around each variable. */
function quote(text: string): string {
  if (!/["\\`!]/.test(text)) return text.includes('$') ? `"${text}"` : `'${text}'`;
  const parts = text
    .replaceAll("'", "'\\''")
    .replace(variable, (whole, name) => (isVariable(name) ? `'"${whole}"'` : whole));
  return `'${parts}'`;
}

/** Returns one comment for each variable that only this request needs. */
function meaningsOf(command: string): string[] {
  const names = new Set([...command.matchAll(variable)].map(([, name = '']) => name).filter(isVariable));
  for (const known of ['FILES', 'PLUGINS', 'QM_API_KEY'] as const) names.delete(known);
  return [...names].map((name) => `# ${name}: ${exampleVariables[name].meaning}`);
}
