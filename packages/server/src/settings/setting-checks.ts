import ipaddr from 'ipaddr.js';
import { isJsonObject } from '../kernel/json/json-object.ts';
import type { SettingCheck } from './setting.ts';

/** Each check returns the error as the rest of a sentence that starts with the value; null when the value is valid. */
export const anyText = () => null;

export function atMost(characters: number): SettingCheck {
  return (text) => (text.length <= characters ? null : `must have at most ${characters} characters`);
}

export function wholeNumber(least: number, most: number): SettingCheck {
  const isAllowed = (text: string) => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most;
  const check = (text: string) => (isAllowed(text) ? null : `must be a whole number from ${least} to ${most}`);
  return Object.assign(check, { allowed: `${least}..${most}` });
}

export function oneOf(values: readonly string[]): SettingCheck {
  const check = (text: string) => (values.includes(text) ? null : `must be one of ${values.join(', ')}`);
  return Object.assign(check, { allowed: values.join('|') });
}

export function checkHost(text: string): string | null {
  return /^[a-z0-9._:%-]{1,255}$/i.test(text) ? null : 'must be an IP address or a host name';
}

/** Names of language data become one argument of tesseract, so only letters are allowed. */
export function checkLanguages(text: string): string | null {
  const names = text.split(',').map((item) => item.trim());
  const isValid = names.length <= 4 && names.every((name) => /^[a-z]{3,8}(?:_[a-z]{2,8}){0,2}$/i.test(name));
  return isValid ? null : 'must be at most 4 names of language data such as deu,eng';
}

export function checkPublishers(text: string): string | null {
  const keys = text.split(',').map((item) => item.trim());
  const bad = keys.find((item) => item !== '' && !/^ed25519:[A-Za-z0-9_-]{43}$/.test(item));
  return bad === undefined ? null : `must be a list of public keys such as ed25519:…, not ${JSON.stringify(bad)}`;
}

export function checkEncryptionKeys(text: string): string | null {
  const keys = text.split(',').map((item) => item.trim());
  return keys.every((item) => item === '' || /^[A-Za-z0-9+/_-]{43}=?$/.test(item))
    ? null
    : 'must be a list of keys, each the base64 encoding of 32 bytes';
}

export function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

export function checkOverrides(text: string): string | null {
  const message =
    'must be a JSON object of origins, such as \'{"https://api.example.com":"http://127.0.0.1:9000"}\', in single quotes in a shell';
  const entries = entriesOf(text);
  return entries?.flat().every(isOrigin) ? null : message;
}

export function checkBundleHosts(text: string): string | null {
  const message =
    'must be a JSON object of lists of hosts, such as \'{"http_request":["api.example.com"]}\', in single quotes in a shell';
  const isHost = (host: unknown) => typeof host === 'string' && /^[a-z0-9.-]+(:\d{1,5})?$/.test(host);
  const entries = entriesOf(text);
  return entries?.every(([, hosts]) => Array.isArray(hosts) && hosts.every(isHost)) ? null : message;
}

export function checkToolsets(text: string): string | null {
  const message =
    'must be a JSON object of lists of names, such as \'{"office":["gmail","slack__post_message"]}\', in single quotes in a shell';
  const isName = (name: unknown) => typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name);
  const entries = entriesOf(text);
  const isSet = ([name, members]: [string, unknown]) => isName(name) && Array.isArray(members) && members.every(isName);
  return entries?.every(isSet) ? null : message;
}

/** The entries of a JSON object; undefined when the text is not one. */
function entriesOf(text: string): Array<[string, unknown]> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

export function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const url = new URL(value);
  return (url.protocol === 'https:' || url.protocol === 'http:') && url.origin === value;
}

export function checkOrigins(text: string): string | null {
  const origins = text.split(',').map((item) => item.trim());
  const bad = origins.find((item) => item !== '' && !isOrigin(item));
  return bad === undefined
    ? null
    : `must be a list of origins such as https://app.example.com, not ${JSON.stringify(bad)}`;
}

export function checkHostNames(text: string): string | null {
  const names = text.split(',').map((item) => item.trim());
  const bad = names.find((item) => item !== '' && !/^(?:[a-z0-9._-]+|[0-9a-f:]+)$/i.test(item));
  return bad === undefined ? null : `must be a list of host names without ports, not ${JSON.stringify(bad)}`;
}

export function checkNetworks(text: string): string | null {
  const bad = text
    .split(',')
    .map((item) => item.trim())
    .find((item) => item !== '' && !ipaddr.isValid(item) && !ipaddr.isValidCIDR(item));
  return bad === undefined ? null : `must be a list of addresses or networks, not ${JSON.stringify(bad)}`;
}
