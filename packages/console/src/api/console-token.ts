/**
 * The second token of the session. The storage of this origin holds it, so tabs share it, a reload keeps it, and a page on another port of
 * this host, which gets the session cookie, cannot read it.
 */
const storageKey = 'quartermaster-console-token';

/** Empty without a session. */
export function readConsoleToken(): string {
  return localStorage.getItem(storageKey) ?? '';
}

export function keepConsoleToken(token: string): void {
  localStorage.setItem(storageKey, token);
}

export function forgetConsoleToken(): void {
  localStorage.removeItem(storageKey);
}
