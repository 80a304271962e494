import type { TextOrCredential } from '@quartermaster/plugin-kit';
import type { Secret } from '../../platform/secret.ts';

/** The credentials of a run, by name. */
export type Credentials = ReadonlyMap<string, Secret>;

/** Why a credential cannot be sent as the bundle declares. The message never holds its value. */
export interface InjectionRefusal {
  readonly credential: string;
  readonly message: string;
}

/** The prepared form of an injection; null when its credentials were not sent. */
export type PreparedInjection<T> = T | { readonly refusal: InjectionRefusal } | null;

/** A signature or an injection also needs this credential, which was not sent. */
export function missing(credential: string): { readonly refusal: InjectionRefusal } {
  return { refusal: { credential, message: 'is missing beside the credentials that were given' } };
}

/** A header cannot carry the value. */
export function unfitForHeader(credential: string): { readonly refusal: InjectionRefusal } {
  const found = 'holds a line break, a control character or a character outside Latin-1';
  return { refusal: { credential, message: `${found}, so it cannot be sent in a header` } };
}

/** The text or the value of the credential; undefined when the credential was not sent. */
export function textOf(source: TextOrCredential, credentials: Credentials): string | undefined {
  if (typeof source === 'string') return source;
  return credentials.get(source.credential)?.reveal() ?? source.default;
}
