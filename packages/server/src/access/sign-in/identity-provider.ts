import { hash } from 'node:crypto';
import type { AuthorizationServer } from 'oauth4webapi';
import type { Clock } from '../../platform/clock.ts';
import type { Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import { Problem } from '../../platform/problem.ts';
import type { Secret } from '../../platform/secret.ts';
import { answerInvalid, providerUnreachable, signInDenied } from './problems.ts';

const cachedMs = 600_000;
const bounds = { timeoutMs: 5000, answerBytes: 256 * 1024, clockToleranceSeconds: 60 } as const;

export interface IdentityProviderDeps {
  readonly issuer: string;
  readonly clientId: string;
  /** null: a public client, which PKCE protects. */
  readonly clientSecret: Secret | null;
  /** The claim that must be present, if any. */
  readonly rolesClaim: string | null;
  readonly outbound: Outbound;
  readonly clock: Clock;
}

/** What one sign-in sends, and expects in the answer. */
export interface SignInRequest {
  readonly state: string;
  /** A random text that only the browser has. The nonce and the code verifier are computed from it. */
  readonly secret: string;
  readonly redirectUri: string;
}

/** The claims of a verified ID token and of the UserInfo endpoint. */
export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** The provider of OpenID Connect. Nothing is requested from it before the first sign-in. */
export interface IdentityProvider {
  /** Returns the URL to which the browser is sent. @throws Problem PROVIDER_ERROR */
  authorizationUrl(request: SignInRequest): Promise<URL>;
  /**
   * Exchanges the code of the answer and verifies the ID token.
   * @param answer the query with which the provider sent the browser back
   * @throws Problem PROVIDER_ERROR, or PERMISSION_DENIED when the answer is an error
   */
  readClaims(answer: URLSearchParams, request: SignInRequest): Promise<Claims>;
}

type Library = typeof import('oauth4webapi');

/** The metadata is cached for 10 minutes. The library caches the keys, and repeats the request for an unknown key at most once a minute. */
export function createIdentityProvider(deps: IdentityProviderDeps): IdentityProvider {
  const { clock, clientId, clientSecret, rolesClaim } = deps;
  const { host } = new URL(deps.issuer);
  let known: { readonly server: Promise<AuthorizationServer>; readonly until: number } | undefined;

  function discover(oauth: Library): Promise<AuthorizationServer> {
    if (known !== undefined && clock.now() < known.until) return known.server;
    const issuer = new URL(deps.issuer);
    const server = oauth
      .discoveryRequest(issuer, requestOptions(oauth, deps))
      .then((answer) => oauth.processDiscoveryResponse(issuer, answer));
    known = { server, until: clock.now() + cachedMs };
    server.catch(() => {
      known = undefined;
    });
    return server;
  }

  return {
    authorizationUrl: (request) =>
      withOwnErrors(host, async (oauth) => {
        const server = await discover(oauth);
        const url = new URL(server.authorization_endpoint ?? '');
        if (url.protocol !== 'https:' && url.protocol !== new URL(deps.issuer).protocol) throw new TypeError('scheme');
        // Providers that have a scope for the claim send it only with this scope.
        const more = server.scopes_supported?.filter((scope) => scope === rolesClaim) ?? [];
        const parameters = {
          response_type: 'code',
          client_id: clientId,
          redirect_uri: request.redirectUri,
          scope: ['openid', 'email', 'profile', ...more].join(' '),
          state: request.state,
          nonce: derive(request, 'nonce'),
          code_challenge: await oauth.calculatePKCECodeChallenge(derive(request, 'verifier')),
          code_challenge_method: 'S256',
        };
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
        return url;
      }),
    readClaims: (answer, request) =>
      withOwnErrors(host, async (oauth) => {
        const options = requestOptions(oauth, deps);
        const server = await discover(oauth);
        const client = { client_id: clientId, [oauth.clockTolerance]: bounds.clockToleranceSeconds };
        const code = oauth.validateAuthResponse(server, client, answer, request.state);
        const identity = authenticationOf(oauth, server, clientSecret);
        const { redirectUri } = request;
        const verifier = derive(request, 'verifier');
        const sent = oauth.authorizationCodeGrantRequest;
        const response = await sent(server, client, identity, code, redirectUri, verifier, options);
        const expected = { expectedNonce: derive(request, 'nonce'), requireIdToken: true };
        const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
        await oauth.validateApplicationLevelSignature(server, response, options);
        const claims = oauth.getValidatedIdTokenClaims(tokens);
        if (claims === undefined) throw new TypeError('no ID token');
        const isWhole = claims.email !== undefined && (rolesClaim === null || claims[rolesClaim] !== undefined);
        if (isWhole || server.userinfo_endpoint === undefined) return claims;
        const info = await oauth.userInfoRequest(server, client, tokens.access_token, options);
        return { ...(await oauth.processUserInfoResponse(server, client, claims.sub, info)), ...claims };
      }),
  };
}

function derive({ secret }: SignInRequest, purpose: 'nonce' | 'verifier'): string {
  return hash('sha256', `${purpose} ${secret}`, 'base64url');
}

/** The secret in the body where the provider allows it, because providers decode the header differently. */
function authenticationOf(oauth: Library, server: AuthorizationServer, secret: Secret | null) {
  if (secret === null) return oauth.None();
  const inBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
  return inBody ? oauth.ClientSecretPost(secret.reveal()) : oauth.ClientSecretBasic(secret.reveal());
}

/** Each request goes through the egress broker, to the host of its URL only, without redirects. */
function requestOptions(oauth: Library, { issuer, outbound }: IdentityProviderDeps) {
  const isPlain = issuer.startsWith('http:');
  return {
    [oauth.allowInsecureRequests]: isPlain,
    [oauth.customFetch]: async (url: string, { method, headers, body }: Sent) => {
      const { host } = new URL(url);
      const policy: OutboundPolicy = {
        hosts: new Set([host]),
        schemes: new Set(isPlain ? ['https', 'http'] : ['https']),
        credentials: new Map(),
        inject: [],
        maxRedirects: 0,
        maxResponseBytes: bounds.answerBytes,
        timeoutMs: bounds.timeoutMs,
      };
      const request = { method, url, headers, ...(body == null ? {} : { body: String(body) }) };
      const result = await outbound.send(request, policy, AbortSignal.timeout(bounds.timeoutMs + 1000));
      if (result.kind !== 'response')
        throw providerUnreachable(host, 'message' in result ? result.message : result.kind);
      const isEmpty = [204, 205, 304].includes(result.status);
      const content = isEmpty ? null : new Uint8Array(result.body);
      return new Response(content, { status: result.status, headers: result.headers });
    },
  };
}

interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

/** Replaces errors of the library, whose messages may contain texts of the provider. */
async function withOwnErrors<T>(host: string, run: (oauth: Library) => Promise<T>): Promise<T> {
  const oauth = await import('oauth4webapi');
  try {
    return await run(oauth);
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof oauth.AuthorizationResponseError) throw signInDenied();
    const { code, error: named } = Object(error) as { readonly code?: unknown; readonly error?: unknown };
    const isNamed = typeof named === 'string' && /^[a-z_]{1,40}$/.test(named);
    throw answerInvalid(host, isNamed ? named : String(code ?? 'not readable'));
  }
}
