import type { OAuth2 } from '@quartermaster/plugin-kit';
import { isHeaderValue } from '../header-text.ts';
import { type Credentials, missing, type PreparedInjection, textOf } from '../prepared-injection.ts';

/**
 * The access token that a request needs: where to request it, with which client, and how to send it. It holds secrets in clear
 * text.
 */
export interface TokenNeed {
  readonly grant: OAuth2['grant'];
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly authentication: 'basic' | 'body' | 'none';
  readonly refreshToken: string | undefined;
  /** The name of the credential with the refresh token. */
  readonly refreshTokenName: string | undefined;
  /** The scope and other parameters of the token request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The header that carries the token, in lower case. */
  readonly header: string;
  readonly template: string;
}

/** null when none of its credentials was sent. */
export function prepareTokenNeed(declared: OAuth2, credentials: Credentials): PreparedInjection<{ token: TokenNeed }> {
  const secretOf = (name: string | undefined) => (name === undefined ? undefined : credentials.get(name)?.reveal());
  const [clientId, clientSecret] = [secretOf(declared.client_id), secretOf(declared.client_secret)];
  const refreshToken = secretOf(declared.refresh_token);
  if (clientId === undefined && clientSecret === undefined && refreshToken === undefined) return null;
  if (clientId === undefined) return missing(declared.client_id);
  const authentication = declared.client_authentication ?? (clientSecret === undefined ? 'none' : 'basic');
  if (authentication !== 'none' && clientSecret === undefined) return missing(declared.client_secret ?? '');
  if (declared.grant === 'refresh_token' && refreshToken === undefined) return missing(declared.refresh_token ?? '');
  const parameters: Record<string, string> = declared.scope === undefined ? {} : { scope: declared.scope };
  for (const [name, source] of Object.entries(declared.parameters ?? {})) {
    const value = textOf(source, credentials);
    if (value !== undefined) parameters[name] = value;
  }
  const token = {
    grant: declared.grant,
    tokenUrl: declared.token_url,
    header: (declared.header ?? 'Authorization').toLowerCase(),
    template: declared.template ?? 'Bearer {token}',
    clientId,
    clientSecret,
    authentication,
    refreshToken,
    parameters,
    refreshTokenName: declared.refresh_token,
  };
  return { token };
}

/** The header with the token; null when a header cannot carry it. */
export function tokenHeader({ header, template }: TokenNeed, token: string): Readonly<Record<string, string>> | null {
  const value = template.replaceAll('{token}', () => token);
  return isHeaderValue(value) ? { [header]: value } : null;
}

/** Encodes names and secrets for basic authentication as OAuth requires: application/x-www-form-urlencoded. */
export function formEncoded(text: string): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}
