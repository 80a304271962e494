import { storageKey } from '../base-path.ts';

/**
 * The second token of the session. The storage of this origin holds it, so tabs share it, a reload keeps it, and a page on another port of
 * this host, which gets the session cookie, cannot read it.
 */
const key = storageKey('console-token');

/** Empty without a session. */
export function readConsoleToken(): string {
  return localStorage.getItem(key) ?? '';
}

export function keepConsoleToken(token: string): void {
  localStorage.setItem(key, token);
}

export function forgetConsoleToken(): void {
  localStorage.removeItem(key);
}
