import type { IncomingHttpHeaders } from 'node:http';
import { consoleTokenHeader, sessionCookie } from '@quartermaster/contract';
import type { SentTokens } from './sessions.ts';

/** Reads and writes the cookies of this service. */
export interface Cookies {
  readSession(header: string | undefined): string | undefined;
  /** Returns both tokens of a session. */
  readTokens(headers: IncomingHttpHeaders): SentTokens;
  readDeviceCookie(header: string | undefined): string | undefined;
  /** Reads the secret of a sign-in with the identity provider. */
  readSignIn(header: string | undefined): string | undefined;
  /** Values of `Set-Cookie`. */
  writeSession(token: string, seconds: number): string;
  writeDeviceCookie(deviceCookie: string): string;
  /** With 0 seconds the browser forgets the secret. */
  writeSignIn(secret: string, seconds: number): string;
  endSession(): string;
}

const browserSeconds = 90 * 86_400;

/**
 * @param https whether clients reach the console over HTTPS. Cookies then have the prefix `__Host-` and `Secure`.
 * Browsers refuse both over plain HTTP, so a service on a local network uses neither.
 * @param basePath the path of the console, such as `/quartermaster`. Other applications of the host do not get the cookies then. The
 * prefix is `__Secure-`, because `__Host-` requires the path `/`.
 */
export function createCookies(https: boolean, basePath = ''): Cookies {
  const prefix = https ? (basePath === '' ? '__Host-' : '__Secure-') : '';
  const session = `${prefix}${sessionCookie}`;
  const browser = `${prefix}quartermaster_browser`;
  const signIn = `${prefix}quartermaster_sign_in`;
  const attributes = `Path=${basePath}/; HttpOnly; SameSite=Strict${https ? '; Secure' : ''}`;
  const write = (name: string, value: string, seconds: number) => `${name}=${value}; Max-Age=${seconds}; ${attributes}`;
  return {
    readSession: (header) => readCookie(header, session),
    readTokens: (headers) => ({ cookie: readCookie(headers.cookie, session), console: readConsoleToken(headers) }),
    readDeviceCookie: (header) => readCookie(header, browser),
    readSignIn: (header) => readCookie(header, signIn),
    writeSession: (token, seconds) => write(session, token, seconds),
    writeDeviceCookie: (deviceCookie) => write(browser, deviceCookie, browserSeconds),
    writeSignIn: (secret, seconds) => write(signIn, secret, seconds),
    endSession: () => write(session, '', 0),
  };
}

function readConsoleToken(headers: IncomingHttpHeaders): string | undefined {
  const value = headers[consoleTokenHeader];
  return typeof value === 'string' ? value : undefined;
}

/** @returns the only cookie with this name; undefined for several, because another site may have set one */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}
