import type { TextOrCredential } from '@quartermaster/plugin-kit';
import type { Secret } from '../kernel/secret.ts';

/** The credentials of a run, by name. */
export type Credentials = ReadonlyMap<string, Secret>;

/** A credential that cannot be sent where the bundle wants it. The message never holds its value. */
export interface InjectionRefusal {
  readonly credential: string;
  readonly message: string;
}

/** What an injection has become; null when its credentials were not given. */
export type Prepared<T> = T | { readonly refusal: InjectionRefusal } | null;

/** Something is signed with or sent beside another credential that was given. */
export function missing(credential: string): { readonly refusal: InjectionRefusal } {
  return { refusal: { credential, message: 'is missing beside the credentials that were given' } };
}

/** No header can carry the value. */
export function unfitForHeader(credential: string): { readonly refusal: InjectionRefusal } {
  const found = 'holds a line break, a control character or a character outside Latin-1';
  return { refusal: { credential, message: `${found}, so it cannot be sent in a header` } };
}

/** Undefined when it is a credential that was not given. */
export function textOf(source: TextOrCredential, credentials: Credentials): string | undefined {
  if (typeof source === 'string') return source;
  return credentials.get(source.credential)?.reveal() ?? source.default;
}
