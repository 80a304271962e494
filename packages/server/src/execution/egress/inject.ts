import type { Injection } from '@quartermaster/plugin-kit';
import type { Secret } from '../../kernel/secret.ts';

/** What the credentials of a run add to its requests. Made once a run; holds secrets in the clear, so never log it. */
export interface Injected {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: ReadonlyArray<readonly [string, string]>;
  /** Fields of a form; added to requests that send one. */
  readonly form: ReadonlyArray<readonly [string, string]>;
  /** Values for `{credential:NAME}` in a path, percent-encoded. */
  readonly path: ReadonlyMap<string, string>;
}

/** A credential that cannot be sent where the bundle wants it. The message never holds its value. */
export interface InjectionRefusal {
  readonly credential: string;
  readonly message: string;
}

type Credentials = ReadonlyMap<string, Secret>;

/** Renders every injection whose credential was given; the ones without are left out (an optional credential). */
export function prepareInjection(
  inject: readonly Injection[],
  credentials: Credentials,
): { readonly injected: Injected } | { readonly refusal: InjectionRefusal } {
  const headers: Record<string, string> = {};
  const query: [string, string][] = [];
  const form: [string, string][] = [];
  const path = new Map<string, string>();
  for (const injection of inject) {
    const rendered = render(injection, credentials);
    if (rendered === null) continue;
    if ('refusal' in rendered) return rendered;
    if (rendered.in === 'header') headers[rendered.name] = rendered.value;
    else if (rendered.in === 'query') query.push([rendered.name, rendered.value]);
    else if (rendered.in === 'form') form.push([rendered.name, rendered.value]);
    else path.set(rendered.name, rendered.value);
  }
  return { injected: { headers, query, form, path } };
}

/** The texts that hold a secret in a form of their own: `user:password` as basic authentication sends it. */
export function derivedSecrets(inject: readonly Injection[], credentials: Credentials): string[] {
  return inject.flatMap((injection) => {
    const password = injection.in === 'basic' ? credentials.get(injection.password ?? '')?.reveal() : undefined;
    if (injection.in !== 'basic' || password === undefined || password === '') return [];
    return [`${credentials.get(injection.username)?.reveal() ?? ''}:${password}`];
  });
}

type Rendered =
  | { readonly in: 'header' | 'query' | 'form' | 'path'; readonly name: string; readonly value: string }
  | { readonly refusal: InjectionRefusal };

function render(injection: Injection, credentials: Credentials): Rendered | null {
  if (injection.in === 'basic') return renderBasic(injection, credentials);
  const secret = credentials.get(injection.credential)?.reveal();
  if (secret === undefined) return null;
  if (injection.in === 'path') return renderPath(injection.credential, secret);
  const value = (injection.template ?? '{credential}').replaceAll('{credential}', () => secret);
  if (injection.in !== 'header') return { in: injection.in, name: injection.name, value };
  return renderHeader({ credential: injection.credential, name: injection.name, value });
}

function renderHeader(header: { credential: string; name: string; value: string }): Rendered {
  if (isHeaderValue(header.value)) return { in: 'header', name: header.name.toLowerCase(), value: header.value };
  const found = 'holds a line break, a control character or a character outside Latin-1';
  return { refusal: { credential: header.credential, message: `${found}, so it cannot be sent in a header` } };
}

function renderBasic(injection: Extract<Injection, { in: 'basic' }>, credentials: Credentials): Rendered | null {
  const username = credentials.get(injection.username)?.reveal();
  const password = injection.password === undefined ? '' : (credentials.get(injection.password)?.reveal() ?? '');
  if (username === undefined) return null;
  if (username.includes(':')) {
    return { refusal: { credential: injection.username, message: 'holds a colon, which a user name may not' } };
  }
  const value = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return { in: 'header', name: 'authorization', value };
}

function renderPath(name: string, secret: string): Rendered {
  const value = encodeURIComponent(secret.toWellFormed());
  if (secret !== '' && secret !== '.' && secret !== '..') return { in: 'path', name, value };
  return { refusal: { credential: name, message: 'is empty or made of dots, so it cannot be sent in a path' } };
}

/** What may stand in a header: visible Latin-1, space and tab. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** What may name a header (RFC 9110 token). */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

const pathPlace = /%7Bcredential:([A-Za-z0-9_.-]+)%7D/g;

/**
 * Puts the credentials into the path of a parsed URL, where the parser has written `{` as `%7B`. A parameter's value
 * cannot ask for one: its colon would be encoded too.
 * @returns the path, or the name of the credential that is missing.
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
