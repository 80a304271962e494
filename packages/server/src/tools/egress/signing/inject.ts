import type { Injection } from '@quartermaster/plugin-kit';
import { isHeaderName, isHeaderValue, reservedHeaders } from '../header-text.ts';
import { type JsonMember, memberPath } from '../json-body.ts';
import {
  type Credentials,
  type InjectionRefusal,
  missing,
  type PreparedInjection,
  textOf,
  unfitForHeader,
} from '../prepared-injection.ts';
import { prepareAwsSigner, prepareHmacSigner } from './signers.ts';
import type { Signer } from './signing.ts';
import { prepareTokenNeed, type TokenNeed } from './token-need.ts';

/**
 * The additions of the credentials to the requests of a run. Prepared once for each run. It holds secrets in clear text: never log
 * it.
 */
export interface Injected {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: ReadonlyArray<readonly [string, string]>;
  /** Form fields, added to requests with a form as body. */
  readonly form: ReadonlyArray<readonly [string, string]>;
  /** Members of a JSON body, added to requests that may have one. */
  readonly json: readonly JsonMember[];
  /** Values for `{credential:NAME}` in a path, percent-encoded. */
  readonly path: ReadonlyMap<string, string>;
  /** The signers of a request, in this order. */
  readonly signers: readonly Signer[];
  /** The access token that is requested before anything is sent. */
  readonly token: TokenNeed | null;
}

/** For requests without credentials. */
export const nothingInjected: Injected = {
  headers: {},
  query: [],
  form: [],
  json: [],
  path: new Map(),
  signers: [],
  token: null,
};

/** Prepares every injection whose credential was sent. Injections of optional credentials that are missing are left out. */
export function prepareInjection(
  inject: readonly Injection[],
  credentials: Credentials,
): { readonly injected: Injected } | { readonly refusal: InjectionRefusal } {
  const headers: Record<string, string> = {};
  const pairs = { query: [] as [string, string][], form: [] as [string, string][] };
  const json: JsonMember[] = [];
  const path = new Map<string, string>();
  const signers: Signer[] = [];
  let token: TokenNeed | null = null;
  for (const injection of inject) {
    const rendered = render(injection, credentials);
    if (rendered === null) continue;
    if ('refusal' in rendered) return rendered;
    if ('signer' in rendered) signers.push(rendered.signer);
    else if ('token' in rendered) token = rendered.token;
    else if (rendered.in === 'header') headers[rendered.name] = rendered.value;
    else if (rendered.in === 'path') path.set(rendered.name, rendered.value);
    else if (rendered.in === 'json') json.push([memberPath(rendered.name), rendered.value]);
    else pairs[rendered.in].push([rendered.name, rendered.value]);
  }
  return { injected: { headers, ...pairs, json, path, signers, token } };
}

interface Placed {
  readonly in: 'header' | 'query' | 'form' | 'json' | 'path';
  readonly name: string;
  readonly value: string;
}
type Rendered = Placed | { readonly signer: Signer } | { readonly token: TokenNeed };

function render(injection: Injection, credentials: Credentials): PreparedInjection<Rendered> {
  switch (injection.in) {
    case 'basic':
      return renderBasic(injection, credentials);
    case 'aws_sigv4':
      return prepareAwsSigner(injection, credentials);
    case 'hmac':
      return prepareHmacSigner(injection, credentials);
    case 'oauth2':
      return prepareTokenNeed(injection, credentials);
    default:
      return renderValue(injection, credentials);
  }
}

type ValueInjection = Extract<Injection, { in: 'header' | 'query' | 'form' | 'json' | 'bearer' | 'path' }>;

function renderValue(injection: ValueInjection, credentials: Credentials): PreparedInjection<Placed> {
  const { credential } = injection;
  const secret = credentials.get(credential)?.reveal();
  if (secret === undefined) return null;
  if (injection.in === 'path') return renderPath(credential, secret);
  if (injection.in === 'bearer') return renderHeader({ credential, name: 'authorization', value: `Bearer ${secret}` });
  const value = (injection.template ?? '{credential}').replaceAll('{credential}', () => secret);
  if (injection.in !== 'header') return { in: injection.in, name: injection.name, value };
  const name = textOf(injection.name, credentials);
  if (typeof injection.name === 'string') return renderHeader({ credential, name: injection.name, value });
  if (name === undefined) return missing(injection.name.credential);
  if (isHeaderName(name) && !reservedHeaders.has(name.toLowerCase())) return renderHeader({ credential, name, value });
  return { refusal: { credential: injection.name.credential, message: 'cannot be the name of a header' } };
}

function renderHeader(header: { credential: string; name: string; value: string }): PreparedInjection<Placed> {
  if (isHeaderValue(header.value)) return { in: 'header', name: header.name.toLowerCase(), value: header.value };
  return unfitForHeader(header.credential);
}

function renderBasic(
  injection: Extract<Injection, { in: 'basic' }>,
  credentials: Credentials,
): PreparedInjection<Placed> {
  const username = credentials.get(injection.username)?.reveal();
  const password = injection.password === undefined ? '' : (credentials.get(injection.password)?.reveal() ?? '');
  if (username === undefined) return null;
  if (username.includes(':')) {
    return { refusal: { credential: injection.username, message: 'holds a colon, which a user name may not' } };
  }
  const value = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return { in: 'header', name: 'authorization', value };
}

function renderPath(name: string, secret: string): PreparedInjection<Placed> {
  const value = encodeURIComponent(secret.toWellFormed());
  if (secret !== '' && secret !== '.' && secret !== '..') return { in: 'path', name, value };
  return { refusal: { credential: name, message: 'is empty or made of dots, so it cannot be sent in a path' } };
}

const pathPlace = /%7Bcredential:([A-Za-z0-9_.-]+)%7D/g;

/**
 * Inserts the credentials into the path of a parsed URL, where the parser has written `{` as `%7B`. The value of a parameter cannot
 * insert one, because its colon would be encoded too.
 * @returns the path, or the name of the missing credential
 */
export function fillPath(
  pathname: string,
  path: ReadonlyMap<string, string>,
): { readonly pathname: string } | { readonly missing: string } {
  if (!pathname.includes('%7Bcredential:')) return { pathname };
  let missing: string | undefined;
  const filled = pathname.replace(pathPlace, (_place, name: string) => {
    const value = path.get(name);
    if (value === undefined) missing ??= name;
    return value ?? '';
  });
  return missing === undefined ? { pathname: filled } : { missing };
}
