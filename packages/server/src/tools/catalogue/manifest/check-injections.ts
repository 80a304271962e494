import { type HmacSigning, hmacMessageParts, type Injection, type OAuth2 } from '@quartermaster/plugin-kit';
import type { ErrorCollector, FieldPath } from '../schema/error-collector.ts';
import { describeHostError } from './check-host.ts';

export interface Injections {
  readonly inject: readonly Injection[];
  readonly path: FieldPath;
  /** The names of the known credentials. */
  readonly known: { has(name: string): boolean };
  readonly hosts: readonly string[] | 'operator';
}

type Say = (member: readonly string[], message: string) => void;

/** Checks that the injections of a bundle or a request name known credentials and a place in the request. */
export function checkInjections({ inject, path, known, hosts }: Injections, errors: ErrorCollector): void {
  for (const [index, injection] of inject.entries()) {
    const report: Say = (member, message) => errors.add([...path, String(index), ...member], message);
    for (const { name, member } of credentialsOf(injection)) {
      if (!known.has(name)) report(member, `${JSON.stringify(name)} is not in credentials_schema.`);
    }
    checkHeaderNames(injection, report);
    if (injection.in === 'hmac') checkHmac(injection, report);
    else if (injection.in === 'oauth2') checkOAuth2(injection, hosts, report);
    else if ('template' in injection) checkTemplate(injection.template, '{credential}', report);
  }
  const tokens = inject.filter((injection) => injection.in === 'oauth2');
  if (tokens.length > 1)
    errors.add(path, 'Must contain at most one "in: oauth2", because a request has one access token.');
}

interface Named {
  readonly name: string;
  readonly member: readonly string[];
}

const credentialMembers = new Set([
  ...['credential', 'username', 'password'],
  ...['access_key_id', 'secret_access_key', 'session_token'],
  ...['client_id', 'client_secret', 'refresh_token'],
]);

/** Returns every credential that an injection names, at any depth. */
export function credentialsOf(value: object, member: readonly string[] = []): Named[] {
  return Object.entries(value).flatMap(([key, found]): Named[] => {
    const place = [...member, key];
    if (typeof found === 'object' && found !== null) return credentialsOf(found, place);
    if (typeof found !== 'string') return [];
    // Parameters of a token request have free names.
    if (credentialMembers.has(key) && member[0] !== 'parameters') return [{ name: found, member: place }];
    if (key === 'credential') return [{ name: found, member: place }];
    if (key !== 'message' && key !== 'template') return [];
    return placeholdersOf(found)
      .filter((name) => name.startsWith('credential:'))
      .map((name) => ({ name: name.slice('credential:'.length), member: place }));
  });
}

function checkHeaderNames(injection: Injection, report: Say): void {
  const places: Array<readonly [string | undefined, readonly string[]]> = [];
  if (injection.in === 'header' && typeof injection.name === 'string') places.push([injection.name, ['name']]);
  if (injection.in === 'oauth2') places.push([injection.header, ['header']]);
  if (injection.in === 'hmac') {
    for (const member of ['signature', 'timestamp', 'nonce'] as const) {
      if (injection[member]?.in === 'header') places.push([injection[member].name, [member, 'name']]);
    }
  }
  for (const [name, member] of places) {
    if (name === undefined || /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) continue;
    report(member, `${JSON.stringify(name)} cannot be the name of a header.`);
  }
}

function checkTemplate(template: unknown, needed: string, report: Say): void {
  if (typeof template !== 'string' || template.includes(needed)) return;
  report(['template'], `Expected ${JSON.stringify(needed)} at the position of the value.`);
}

const parts: ReadonlySet<string> = new Set(hmacMessageParts);
const signatureParts: ReadonlySet<string> = new Set(['signature', 'timestamp', 'nonce']);

function checkHmac(injection: HmacSigning, report: Say): void {
  const { message, signature } = injection;
  const template = signature.template ?? '{signature}';
  for (const name of placeholdersOf(message)) {
    if (parts.has(name) || /^(?:credential|header):/.test(name)) continue;
    report(['message'], `{${name}} cannot be signed. Allowed: ${hmacMessageParts.join(', ')}, header:NAME.`);
  }
  for (const name of placeholdersOf(template)) {
    if (signatureParts.has(name) || name.startsWith('credential:')) continue;
    report(['signature', 'template'], `{${name}} is not allowed here. Allowed: ${[...signatureParts].join(', ')}.`);
  }
  if (!template.includes('{signature}')) report(['signature', 'template'], 'Must contain "{signature}".');
  for (const member of ['timestamp', 'nonce'] as const) {
    const declared = injection[member];
    const used = [message, template].some((text) => placeholdersOf(text).includes(member));
    if (used && declared === undefined) report([member], `Is required for {${member}}.`);
    if (declared !== undefined && (declared.in === undefined) !== (declared.name === undefined)) {
      report([member], 'Must have both "in" and "name", or neither.');
    }
  }
}

function checkOAuth2(injection: OAuth2, hosts: Injections['hosts'], report: Say): void {
  const { grant, token_url: url, client_authentication: authentication } = injection;
  const [origin = ''] = /^https?:\/\/[^/]*/.exec(url) ?? [];
  const message = origin.startsWith('http:')
    ? 'Must be an https:// URL, because access tokens are requested over TLS only.'
    : describeHostError(origin, hosts);
  if (message !== null) report(['token_url'], message);
  if (grant === 'refresh_token' && injection.refresh_token === undefined) {
    report(['refresh_token'], 'Is required for the grant refresh_token.');
  }
  const needsSecret = grant === 'client_credentials' || authentication === 'basic' || authentication === 'body';
  if (needsSecret && authentication !== 'none' && injection.client_secret === undefined) {
    report(['client_secret'], 'Is required, unless "client_authentication" is none.');
  }
  checkTemplate(injection.template, '{token}', report);
}

function placeholdersOf(text: string): string[] {
  return [...text.matchAll(/\{([a-z0-9_]+(?::[A-Za-z0-9_.-]+)?)\}/g)].map(([, name = '']) => name);
}
