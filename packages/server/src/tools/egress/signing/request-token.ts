import type { AuthorizationServer, ClientAuth } from 'oauth4webapi';
import type { EgressRequest, EgressResult } from '../../../platform/outbound.ts';
import { credentialLimits } from '../../catalogue/credential-bounds.ts';
import { formEncoded, type TokenNeed } from './token-need.ts';
import type { Granted } from './tokens.ts';

type Send = (request: EgressRequest) => Promise<EgressResult>;
type Answer = Extract<EgressResult, { kind: 'response' }>;

/** Error codes that mean wrong credentials (RFC 6749 §5.2). The other codes blame the request or the server. */
const blameCredentials: ReadonlySet<unknown> = new Set(['invalid_client', 'invalid_grant', 'unauthorized_client']);
const excerptBytes = 1024;

/**
 * Requests an access token from a token endpoint (RFC 6749 §4.4 and §6).
 * @param send sends under the rules of the bundle and returns the unredacted answer
 */
export async function requestToken(need: TokenNeed, send: Send): Promise<Granted> {
  // Loaded with the first token, because most services never need it.
  const oauth = await import('oauth4webapi');
  const server: AuthorizationServer = { issuer: new URL(need.tokenUrl).origin, token_endpoint: need.tokenUrl };
  const client = { client_id: need.clientId };
  const refresh = need.grant === 'refresh_token' ? { refresh_token: need.refreshToken ?? '' } : {};
  let result: EgressResult | undefined;
  const options = {
    [oauth.customFetch]: async (url: string, { method, headers, body }: TokenRequest) => {
      result = await send({ method, url, headers, body: String(body) });
      if (result.kind !== 'response') throw new Error('The token endpoint did not respond.');
      return toResponse(result);
    },
  };
  try {
    const parameters = { ...need.parameters, ...refresh };
    const identity = authenticationOf(need, oauth);
    const response = await oauth.genericTokenEndpointRequest(server, client, identity, need.grant, parameters, options);
    const granted = await oauth.processGenericTokenEndpointResponse(server, client, await withoutIdToken(response));
    const { access_token: accessToken, expires_in: expiresIn, refresh_token: refreshToken } = granted;
    if (isTooLarge(accessToken) || isTooLarge(refreshToken)) return { failure: tokenTooLarge };
    return { token: { accessToken, expiresIn, refreshToken } };
  } catch (error) {
    if (result === undefined) throw error;
    return { failure: describeFailure(result, error) };
  }
}

/** Whether a token exceeds the size limit of a credential. A larger refresh token is not stored. */
function isTooLarge(token: string | undefined): boolean {
  return token !== undefined && Buffer.byteLength(token) > credentialLimits.valueBytes;
}

const tokenTooLarge = {
  kind: 'unreachable',
  message: `no access token: the token endpoint answered with a token of more than ${credentialLimits.valueBytes} bytes`,
} as const;

interface TokenRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

function authenticationOf(need: TokenNeed, oauth: typeof import('oauth4webapi')): ClientAuth {
  const { authentication, clientSecret } = need;
  if (authentication === 'none' || clientSecret === undefined) return oauth.None();
  if (authentication === 'body') return oauth.ClientSecretPost(clientSecret);
  return (_server, client, _body, headers) => {
    headers.set('authorization', basicAuthorization(client.client_id, clientSecret));
  };
}

/**
 * Basic authentication as RFC 6749 §2.3.1 defines it. The library also encodes hyphens and dots. That is allowed, but fails with
 * servers that do not decode, and their identifiers often contain hyphens.
 */
function basicAuthorization(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`;
}

function toResponse({ status, headers, body }: Answer): Response {
  const { 'content-type': type = 'application/json', 'www-authenticate': challenge } = headers;
  const named = new Headers({ 'content-type': type });
  if (challenge !== undefined) named.set('www-authenticate', challenge);
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : new Uint8Array(body), { status, headers: named });
}

/** Removes the ID token: it is not needed, and it may be meant for another client. */
async function withoutIdToken(response: Response): Promise<Response> {
  if (!response.ok) return response;
  const { id_token: _, ...rest } = Object(await response.json());
  return Response.json(rest, { status: response.status });
}

/** Describes the failure in own words, because messages of the library may quote the answer. */
function describeFailure(result: EgressResult, error: unknown): Exclude<EgressResult, Answer> {
  if (result.kind === 'timed_out' || result.kind === 'credentials_rejected') return result;
  if (result.kind !== 'response') return { ...result, message: `no access token: ${result.message}` };
  const { status, headers, body } = result;
  const code: unknown = Reflect.get(Object(error), 'error');
  if (status === 401 || blameCredentials.has(code)) {
    return { kind: 'credentials_rejected', status, excerpt: body.toString('utf8', 0, excerptBytes) };
  }
  const isCode = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code);
  const reason = isCode ? code : 'which is not a token of type Bearer';
  const message = `no access token: the token endpoint answered ${status}, ${reason}`;
  return { kind: 'unreachable', message, status, retryAfter: headers['retry-after'] };
}
