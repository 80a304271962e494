import type { Injection } from '@quartermaster/plugin-kit';
import { isJson, type Json, memberOf, type OpenApiDocument, textOf } from './document.ts';
import { freeName, snakeCase } from './names.ts';
import type { Parameter } from './parameters.ts';

/** One way to authenticate: its credentials and their places in requests. */
export interface Scheme {
  readonly names: readonly string[];
  readonly inject: readonly Injection[];
}

/** The credentials of a bundle, collected while its operations are converted. */
export interface Credentials {
  /** The scheme with this name; undefined when the document does not describe it or it cannot be sent. */
  scheme(name: string): Scheme | undefined;
  /** Creates a credential from a parameter that contains a secret. */
  forParameter(
    parameter: Pick<Parameter, 'name' | 'description'>,
    place: 'header' | 'query' | 'form',
    known: string | undefined,
  ): Scheme;
  /** The schemas of the credentials by name. */
  readonly properties: Readonly<Record<string, Json>>;
  readonly notes: Set<string>;
}

/** @param base the URL that relative URLs of token endpoints refer to */
export function createCredentials(document: OpenApiDocument, base: string | undefined): Credentials {
  const properties: Record<string, Json> = {};
  const schemes = new Map<string, Scheme | undefined>();
  const notes = new Set<string>();
  const described: unknown = Reflect.get(Object(document.root.components), 'securitySchemes');

  function add(name: string, description: string, isSecret = true): string {
    properties[name] ??= { type: 'string', minLength: 1, description, ...(isSecret ? { 'x-secret': true } : {}) };
    return name;
  }

  function addOwn(name: string, description: string): string {
    return add(
      freeName(name, (taken) => Object.hasOwn(properties, taken)),
      description,
    );
  }

  function read(name: string): Scheme | undefined {
    const found = document.follow(memberOf(described, name));
    if (!isJson(found)) return undefined;
    return readScheme(found, name);
  }

  function readScheme(found: Json, name: string): Scheme | undefined {
    const description = textOf(found.description) || `Credential of the scheme ${name}.`;
    const kind = textOf(found.type);
    const scheme = textOf(found.scheme).toLowerCase();
    if (kind === 'apiKey') return apiKey(found, addOwn(upperSnake(name, 'API_KEY'), description));
    if (kind === 'http' && scheme === 'basic') {
      const username = add('USERNAME', `User name for basic authentication. ${description}`, false);
      const password = add('PASSWORD', `Password for basic authentication. ${description}`);
      return { names: [username, password], inject: [{ in: 'basic', username, password }] };
    }
    const tokenUrl = kind === 'oauth2' ? clientTokenUrl(found, base) : undefined;
    if (tokenUrl !== undefined) return clientCredentials(tokenUrl, description);
    const isToken = (kind === 'http' && scheme === 'bearer') || kind === 'oauth2' || kind === 'openIdConnect';
    if (!isToken) return undefined;
    const credential = add('ACCESS_TOKEN', kind === 'http' ? description : `An access token (OAuth 2). ${description}`);
    const inject = [{ in: 'header', name: 'Authorization', credential, template: 'Bearer {credential}' }] as const;
    return { names: [credential], inject };
  }

  /** No scopes are requested, because the client and the server agree on them. */
  function clientCredentials(token_url: string, description: string): Scheme {
    const client_id = add('CLIENT_ID', `Id of the client (OAuth 2, client credentials). ${description}`, false);
    const client_secret = add('CLIENT_SECRET', `Secret of the client (OAuth 2, client credentials). ${description}`);
    notes.add(
      `Access tokens are requested from ${token_url} without a scope. If the server requires one, add "scope" to "inject".`,
    );
    const grant = 'client_credentials' as const;
    return {
      names: [client_id, client_secret],
      inject: [{ in: 'oauth2', grant, token_url, client_id, client_secret }],
    };
  }

  return {
    scheme: (name) => {
      if (!schemes.has(name)) schemes.set(name, read(name));
      return schemes.get(name);
    },
    forParameter: ({ name, description }, place, known) => {
      const credential = known ?? add(upperSnake(name, 'API_KEY'), description || 'The credential of the account.');
      return { names: [credential], inject: [{ in: place, name, credential }] };
    },
    properties,
    notes,
  };
}

/**
 * The token endpoint for client credentials. Undefined when other flows exist, in which people sign in. The API then belongs to its
 * users, and an access token of a user is the credential.
 */
function clientTokenUrl({ flows }: Json, base: string | undefined): string | undefined {
  if (!isJson(flows) || Object.keys(flows).some((flow) => flow !== 'clientCredentials')) return undefined;
  const given = textOf(Reflect.get(Object(flows.clientCredentials), 'tokenUrl'));
  const isRelative = given !== '' && !URL.canParse(given) && base !== undefined && URL.canParse(given, base);
  const url = isRelative ? new URL(given, base).href : given;
  return /^https:\/\/[^\s?#{}]+$/.test(url) && URL.canParse(url) ? url : undefined;
}

function apiKey(found: Json, credential: string): Scheme | undefined {
  const name = textOf(found.name);
  const prefix = typeof found['x-default'] === 'string' && found['x-default'].endsWith(' ') ? found['x-default'] : '';
  const template = prefix === '' ? {} : { template: `${prefix}{credential}` };
  if (found.in === 'header') return { names: [credential], inject: [{ in: 'header', name, credential, ...template }] };
  if (found.in === 'query') return { names: [credential], inject: [{ in: 'query', name, credential, ...template }] };
  if (found.in !== 'cookie') return undefined;
  return {
    names: [credential],
    inject: [{ in: 'header', name: 'Cookie', credential, template: `${name}={credential}` }],
  };
}

function upperSnake(name: string, otherwise: string): string {
  const upper = snakeCase(name).toUpperCase();
  return /[A-Z]/.test(upper) ? upper : otherwise;
}

/** Whether a parameter contains a secret. It becomes a credential, so that no model and no log sees it. */
export function isCredentialParameter({ name, description }: { name: string; description: string }): boolean {
  if (/^(x-)?api[_-]?key$/i.test(name)) return true;
  return /^(access|auth)?[_-]?token$/i.test(name) && /authenticat|authoriz|access token|api key/i.test(description);
}

/**
 * The security alternatives of an operation, each with the names of its schemes. An empty alternative needs none. A document that says
 * nowhere which operations need its schemes means all of them, each as an alternative.
 */
export function securityOf(document: OpenApiDocument, operation: Json): string[][] {
  const listed = operation.security ?? document.root.security;
  if (Array.isArray(listed)) return listed.filter(isJson).map((alternative) => Object.keys(alternative));
  if (statesSecurity(document)) return [];
  const described: unknown = Reflect.get(Object(document.root.components), 'securitySchemes');
  return [...Object.keys(Object(described)).map((name) => [name]), []];
}

const stated = new WeakMap<OpenApiDocument, boolean>();

/** Whether any operation names what it needs. */
function statesSecurity(document: OpenApiDocument): boolean {
  const known = stated.get(document);
  if (known !== undefined) return known;
  const items = Object.values(Object(document.root.paths)).map(document.follow);
  const found = items.flatMap((item) => Object.values(Object(item))).some((one) => isJson(one) && 'security' in one);
  stated.set(document, found);
  return found;
}
