import type { Injection, RequestTemplate } from '@quartermaster/plugin-kit';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import type { ErrorCollector, FieldPath } from '../schema/error-collector.ts';
import { knownHosts } from './bundle-hosts.ts';
import { credentialProperties, type RequestBasis } from './check-credentials.ts';
import { describeHostError } from './check-host.ts';
import { checkInjections } from './check-injections.ts';
import { readTemplate, textsOf } from './placeholders.ts';

export interface RequestContext {
  readonly hosts: readonly string[] | 'operator';
  /** The names of the input parameters. */
  readonly parameters: ReadonlySet<string>;
  /** The names of the bundle's credentials. */
  readonly credentials: ReadonlySet<string>;
  readonly inject: readonly Injection[];
}

/** Collects the names and hosts that the requests of a bundle may refer to. */
export function requestContext(manifest: RequestBasis, parameters: ReadonlySet<string>): RequestContext {
  const credentials = new Set(credentialProperties(manifest).keys());
  return { hosts: knownHosts(manifest), parameters, credentials, inject: manifest.inject ?? [] };
}

interface Located {
  readonly text: string;
  readonly path: FieldPath;
}

/** Checks a declarative request: its host is declared, and each placeholder refers to a known name. */
export function checkRequest(
  request: RequestTemplate,
  root: FieldPath,
  { context: outer, errors }: { context: RequestContext; errors: ErrorCollector },
): void {
  const own = request.inject ?? [];
  const context = { ...outer, inject: [...outer.inject, ...own] };
  checkUrl({ text: request.url, path: [...root, 'url'] }, context, errors);
  const { credentials: known, hosts } = outer;
  checkInjections({ inject: own, path: [...root, 'inject'], known, hosts }, errors);
  if (own.length > 0 && context.inject.filter((item) => item.in === 'oauth2').length > 1) {
    errors.add([...root, 'inject'], 'The bundle already has an "in: oauth2". A request has one access token.');
  }
  checkStyles(request, root, errors);
  for (const member of ['query', 'headers', 'cookies', 'body', 'files'] as const) {
    for (const located of textsOf(request[member], [...root, member])) checkText(located, context, errors);
  }
  if (request.body !== undefined && (request.method === 'GET' || request.method === 'HEAD')) {
    errors.add([...root, 'body'], `A ${request.method} request must not have a body.`);
  }
  if (request.body_type !== undefined && request.body === undefined) {
    errors.add([...root, 'body_type'], 'Must not be set without a "body".');
  }
  if (isForm(request) && !isJsonObject(request.body)) {
    errors.add([...root, 'body'], 'Must be an object, because a form consists of names and values.');
  }
  for (const name of Object.keys(request.files ?? {})) {
    if (request.body_type === 'multipart' && Object.hasOwn(Object(request.body), name)) continue;
    errors.add([...root, 'files', name], 'Must be a field of a "body" with "body_type: multipart".');
  }
}

/** Reports styles for names that the request does not send; they are usually misspelt. */
function checkStyles({ styles = {}, url, ...request }: RequestTemplate, root: FieldPath, errors: ErrorCollector): void {
  const inPath = readTemplate(url).placeholders.map(({ name }) => name);
  const sent = {
    path: inPath,
    query: Object.keys(request.query ?? {}),
    headers: Object.keys(request.headers ?? {}),
    cookies: Object.keys(request.cookies ?? {}),
    form: isForm(request) && isJsonObject(request.body) ? Object.keys(Object(request.body)) : [],
  };
  for (const place of ['path', 'query', 'headers', 'cookies', 'form'] as const) {
    for (const name of Object.keys(styles[place] ?? {})) {
      if (sent[place].includes(name)) continue;
      errors.add(
        [...root, 'styles', place, name],
        `The request does not send ${JSON.stringify(name)}, so it cannot have a style.`,
      );
    }
  }
  for (const name of Object.keys(request.cookies ?? {})) {
    if (/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) continue;
    errors.add([...root, 'cookies', name], 'Must be a valid cookie name.');
  }
}

/** Scheme, authority, path, query, fragment. */
const urlParts = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s;

function checkUrl(url: Located, context: RequestContext, errors: ErrorCollector): void {
  const [, scheme, authority = '', path = '', query = '', fragment] = urlParts.exec(url.text) ?? [];
  const report = (message: string) => errors.add(url.path, message);
  if (fragment !== undefined) report('Must not have a "#" part, because it is never sent.');
  if (/[{}]/.test(`${authority}${query}`))
    report('Placeholders are allowed only in the path. Put query parameters into "query".');
  else if (authority.includes('@')) report('Must not contain a user name or a password. Use "inject" for credentials.');
  else checkHost({ scheme: scheme ?? '', authority }, context, report);
  checkText({ text: path, path: url.path }, context, errors, { inUrlPath: true });
}

function checkHost(
  { scheme, authority }: { scheme: string; authority: string },
  { hosts, inject }: RequestContext,
  report: (message: string) => void,
): void {
  if (scheme === 'http' && inject.length > 0) report('Must be an https:// URL, because the bundle sends credentials.');
  const message = describeHostError(`${scheme}://${authority}`, hosts);
  if (message !== null) report(message);
}

function checkText(
  { text, path }: Located,
  context: RequestContext,
  errors: ErrorCollector,
  { inUrlPath }: { inUrlPath: boolean } = { inUrlPath: false },
): void {
  const { placeholders, malformed } = readTemplate(text);
  if (malformed !== undefined) {
    errors.add(path, `${JSON.stringify(malformed)} is not a placeholder; write "{{" for a brace.`);
  }
  for (const { kind, name } of placeholders) {
    if (kind === 'parameter') {
      if (!context.parameters.has(name)) errors.add(path, `{${name}} is not a property of input_schema.`);
    } else if (!inUrlPath) {
      errors.add(path, `{credential:${name}} stands in the path of the URL only; elsewhere "inject" places it.`);
    } else if (!context.credentials.has(name)) {
      errors.add(path, `{credential:${name}} is not in credentials_schema.`);
    } else if (!context.inject.some((item) => item.in === 'path' && item.credential === name)) {
      errors.add(path, `{credential:${name}} needs {in: path, credential: ${name}} in "inject" of the bundle.`);
    }
  }
}

function isForm({ body_type: type }: Pick<RequestTemplate, 'body_type'>): boolean {
  return type === 'form' || type === 'multipart';
}
