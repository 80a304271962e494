import { withoutTrailingSlashes } from '@quartermaster/contract';
import ipaddr from 'ipaddr.js';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';

export function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

export const isServiceUrl = (text: string) => /^https?:\/\//.test(text) && isPlainUrl(text);

export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === 'https:' || url?.protocol === 'http:') && url.origin === text;
}

/** Whether a URL has https, or http on a loopback address. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

/** Entra's addresses for all tenants are refused: each tenant is an issuer of its own. */
export function isIssuer(text: string): boolean {
  const ofAllTenants = /^https:\/\/login\.microsoftonline\.[a-z]+\/(?:common|organizations|consumers)\//i;
  return isPlainUrl(text) && isSafeUrl(text) && !/[{}]/.test(text) && !ofAllTenants.test(`${text}/`);
}

export const isHostName = (text: string) => /^(?:[a-z0-9._-]+|[0-9a-f:]+)$/i.test(text);

export const isNetwork = (text: string) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);

/** An e-mail address or a URL that fits into a comment of `User-Agent` (RFC 9110 §5.6.5). */
export const isContact = (text: string) => /^[!-'*-[\]-~]{1,200}$/.test(text) && /^[^@:]+@[^@]+$|^https?:/.test(text);

/** A URL that may have a user and a password, whose characters are encoded correctly. */
export function isRegistry(text: string): boolean {
  const { protocol, search, hash, username, password } = URL.parse(text) ?? { protocol: '' };
  const isEncoded = !/%(?![0-9a-f]{2})/i.test(`${username}${password}`);
  return (protocol === 'https:' || protocol === 'http:') && search === '' && hash === '' && isEncoded;
}

/** A host with an optional port. */
export const isHost = (text: string) => /^[a-z0-9.-]+(:\d{1,5})?$/.test(text);

export const isToolName = (text: string) => /^[A-Za-z0-9_-]{1,64}$/.test(text);

/** The name of language data becomes one argument of tesseract, so only letters are allowed. */
export const isLanguage = (text: string) => /^[a-z]{3,8}(?:_[a-z]{2,8}){0,2}$/i.test(text);

/** Splits keys that are separated by commas or stand on lines of their own. A line that starts with `#` is a comment. */
export function splitKeys(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  return lines
    .flatMap((line) => line.split(','))
    .map((key) => key.trim())
    .filter((key) => key !== '');
}

export const areEncryptionKeys = (text: string) =>
  splitKeys(text).length > 0 && splitKeys(text).every((key) => /^[A-Za-z0-9+/_-]{43}=?$/.test(key));

/** An http or https URL whose path, if there is one, needs no encoding in a page, a header or a cookie. */
export function isPublicUrl(text: string): boolean {
  const path = URL.parse(text)?.pathname ?? '';
  const isWeb = /^https?:\/\//i.test(text);
  return isWeb && isPlainUrl(text) && !path.includes('//') && /^[A-Za-z0-9._~/-]+$/.test(path);
}

/** Removes trailing slashes and the default port, and resolves the segments `.` and `..`. */
export function normalizePublicUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + withoutTrailingSlashes(pathname);
}
