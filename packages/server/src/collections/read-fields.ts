import { holdsNul } from './problems.ts';

/**
 * A text as it can be stored: PostgreSQL keeps no U+0000, and half a surrogate pair is no character.
 * @throws REQUEST_VALIDATION_ERROR when it holds U+0000, which cannot be kept.
 */
export function readText(text: string, path: string): string {
  if (text.includes('\0')) throw holdsNul(path);
  return text.toWellFormed();
}

/** The body without the members that are null at the top level: an explicit null means absent. CONTRACT "Collections". */
export function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
