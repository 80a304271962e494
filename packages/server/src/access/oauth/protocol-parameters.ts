import { type OauthScope, oauthScopes, withIncluded } from '@quartermaster/contract';
import type { Resources } from './resources.ts';

const known: ReadonlySet<string> = new Set(oauthScopes);

/** Returns scopes with those that they include. A person may reduce `plugins` to `plugins:read`. */
export function withReads(scopes: readonly OauthScope[]): OauthScope[] {
  const all = withIncluded(scopes);
  return oauthScopes.filter((scope) => all.has(scope));
}

/** Returns the scopes of a parameter that the service knows. */
export function readScopes(text: string | null | undefined): OauthScope[] {
  const asked = new Set((text ?? '').split(' '));
  return oauthScopes.filter((scope) => asked.has(scope));
}

/** Returns scopes without those that another one includes. */
export function withoutIncluded(scopes: readonly OauthScope[]): OauthScope[] {
  const all: ReadonlySet<string> = new Set(scopes);
  return scopes.filter((scope) => !scope.endsWith(':read') || !all.has(scope.slice(0, -':read'.length)));
}

/**
 * Writes the parameters of a request as the library expects them: one resource by its identifier, known scopes with those that they
 * include, and the scopes of the resource when the application asks for none. One that asks only for unknown scopes may read.
 */
export function normaliseAuthorization(sent: URLSearchParams, resources: Resources, issuer: string): URLSearchParams {
  const parameters = normaliseResource(sent, resources);
  const resource = resources.read(parameters.get('resource') ?? `${issuer}/mcp`);
  const asked = readScopes(sent.get('scope'));
  const isSilent = /^(?: |offline_access(?= |$))*$/.test(sent.get('scope') ?? '');
  const ofResource = resource?.scopes ?? [];
  const offered = isSilent ? ofResource : withReads(ofResource).filter((scope) => scope.endsWith(':read'));
  const scopes: string[] = withReads(asked.length > 0 ? asked : offered);
  if (sent.getAll('scope').length < 2) {
    if (/(?:^| )offline_access(?: |$)/.test(sent.get('scope') ?? '')) scopes.push('offline_access');
    parameters.set('scope', scopes.join(' '));
  }
  // Codes are sent in the query, as the metadata says.
  parameters.delete('response_mode');
  return parameters;
}

/** Does the same for the parameters of the token endpoint. A request without scopes gets those of the grant. */
export function normaliseToken(sent: URLSearchParams, resources: Resources): URLSearchParams {
  const parameters = normaliseResource(sent, resources);
  const scope = sent.get('scope');
  if (scope === null) return parameters;
  const others = scope.split(' ').filter((name) => name !== '' && !known.has(name) && name !== 'offline_access');
  const scopes = [...withReads(readScopes(scope)), ...others];
  if (scopes.length === 0) parameters.delete('scope');
  else if (sent.getAll('scope').length < 2) parameters.set('scope', scopes.join(' '));
  return parameters;
}

/** A request for several servers names one that does not exist, which the library refuses with `invalid_target`. */
function normaliseResource(sent: URLSearchParams, resources: Resources): URLSearchParams {
  const parameters = new URLSearchParams(sent);
  const named = new Set(sent.getAll('resource').map((text) => resources.read(text)?.id ?? text));
  const [first] = named;
  if (first !== undefined) parameters.set('resource', named.size === 1 ? first : 'urn:quartermaster:several');
  return parameters;
}
