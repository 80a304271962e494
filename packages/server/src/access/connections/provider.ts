import type { OauthDeclaration } from '@quartermaster/plugin-kit';
import { isJsonObject } from '../../platform/json/json-object.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { EgressRequest, Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import type { Secret } from '../../platform/secret.ts';

/** The OAuth client that the operator registered. */
export interface BundleClient {
  readonly clientId: string;
  /** null: a public client, which PKCE protects. */
  readonly secret: Secret | null;
}

/** An OAuth client and how its provider works. */
export interface ProviderOfBundle {
  readonly oauth: OauthDeclaration;
  readonly client: BundleClient;
}

/** What one authorisation sends, and expects in the answer. */
export interface Authorisation {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string | undefined;
  /** Seconds; undefined when the provider did not say so. */
  readonly expiresIn: number | undefined;
  readonly scopes: readonly string[] | undefined;
}

export interface ConnectedAccount {
  readonly id: string;
  readonly label: string;
}

/** The provider did not give a token. `code` is that of the provider, or a word of this service. */
export class ProviderFailure extends Error {
  readonly kind: 'refused' | 'misconfigured' | 'unavailable';
  readonly code: string;
  readonly retryAfter: number | undefined;
  constructor(kind: ProviderFailure['kind'], code: string, retryAfter?: number) {
    super(`the provider did not give a token: ${code}`);
    this.kind = kind;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Requests to the providers of bundles. All go through the egress broker, to the host of their URL only, without redirects. */
export interface Providers {
  authorizationUrl(of: ProviderOfBundle, request: Authorisation): Promise<URL>;
  /** @throws ProviderFailure also for an answer that does not belong to the request */
  exchange(of: ProviderOfBundle, answer: URLSearchParams, request: Authorisation): Promise<Tokens>;
  /** @throws ProviderFailure */
  refresh(of: ProviderOfBundle, refreshToken: string): Promise<Tokens>;
  /** Returns null where the bundle declares no account. @throws ProviderFailure */
  findAccount(oauth: OauthDeclaration, access: string): Promise<ConnectedAccount | null>;
  /** @returns whether the provider confirmed it; false also where the bundle declares no revocation */
  revoke(
    of: ProviderOfBundle,
    tokens: { readonly access: string; readonly refresh?: string | undefined },
  ): Promise<boolean>;
}

const bounds = { timeoutMs: 15_000, revocationMs: 5000, answerBytes: 256 * 1024, tokenBytes: 8 * 1024 } as const;
/** A longer life is a mistake. */
const longestSeconds = 10 * 365 * 86_400;

type Library = typeof import('oauth4webapi');

export function createProviders(outbound: Outbound): Providers {
  async function send(request: EgressRequest, timeoutMs: number = bounds.timeoutMs) {
    const { host } = new URL(request.url);
    const policy: OutboundPolicy = {
      ...{ hosts: new Set([host]), schemes: new Set(['https'] as const), credentials: new Map(), inject: [] },
      ...{ maxRedirects: 0, maxResponseBytes: bounds.answerBytes, timeoutMs },
    };
    // It does not end with the run that needs the token, because the answer may contain the only copy of a new one.
    const result = await outbound.send(request, policy, AbortSignal.timeout(timeoutMs + 1000));
    if (result.kind !== 'response') throw new ProviderFailure('unavailable', result.kind);
    return { status: result.status, headers: result.headers, json: readObject(result.body) };
  }

  function requestOptions(oauth: Library, { token_format: format, token_headers: more }: OauthDeclaration) {
    return {
      [oauth.customFetch]: async (url: string, { method, headers, body }: Sent) => {
        const form = new URLSearchParams(String(body));
        const isJson = format === 'json';
        const content = isJson ? JSON.stringify(Object.fromEntries(form)) : form.toString();
        const type = isJson ? { 'content-type': 'application/json' } : {};
        const answer = await send({ method, url, headers: { ...headers, ...type, ...more }, body: content });
        return toStandardAnswer(answer);
      },
    };
  }

  return {
    authorizationUrl: async ({ oauth: declared, client }, { state, verifier, redirectUri, scopes }) => {
      const oauth = await import('oauth4webapi');
      const url = new URL(declared.authorization_url);
      const parameters = {
        ...declared.authorization_parameters,
        ...{ response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, state },
        ...(scopes.length === 0
          ? {}
          : { [declared.scope_parameter ?? 'scope']: scopes.join(declared.scope_separator ?? ' ') }),
        ...(declared.pkce === false
          ? {}
          : { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url;
    },
    exchange: (of, answer, { state, verifier, redirectUri }) =>
      withOwnErrors(async (oauth) => {
        const server = serverOf(of.oauth, answer);
        const client = { client_id: of.client.clientId };
        const code = oauth.validateAuthResponse(server, client, answer, state);
        const options = requestOptions(oauth, of.oauth);
        const proof = proofOf(oauth, of);
        const used = of.oauth.pkce === false ? oauth.nopkce : verifier;
        const request = oauth.authorizationCodeGrantRequest;
        const response = await request(server, client, proof, code, redirectUri, used, options);
        return toTokens(await oauth.processAuthorizationCodeResponse(server, client, response));
      }),
    refresh: (of, refreshToken) =>
      withOwnErrors(async (oauth) => {
        const server = serverOf(of.oauth, new URLSearchParams());
        const client = { client_id: of.client.clientId };
        const options = requestOptions(oauth, of.oauth);
        const response = await oauth.refreshTokenGrantRequest(
          server,
          client,
          proofOf(oauth, of),
          refreshToken,
          options,
        );
        return toTokens(await oauth.processRefreshTokenResponse(server, client, response));
      }),
    findAccount: async ({ account }, access) => {
      if (account === undefined) return null;
      const { url, graphql, headers = {}, id, label } = account;
      const sent = { accept: 'application/json', authorization: `Bearer ${access}`, ...headers };
      const query =
        graphql === undefined
          ? { method: 'GET', url, headers: sent }
          : {
              ...{ method: 'POST', url, headers: { ...sent, 'content-type': 'application/json' } },
              body: JSON.stringify({ query: graphql }),
            };
      const { status, json } = await send(query);
      const found = { id: textAt(json, id), label: textAt(json, label) };
      if (status !== 200 || found.id === undefined) throw new ProviderFailure('unavailable', 'account_unknown');
      return { id: found.id, label: found.label ?? found.id };
    },
    revoke: async ({ oauth: { revocation, ...declared }, client }, { access, refresh }) => {
      if (revocation === undefined) return false;
      const how = revocation.authentication ?? declared.client_authentication ?? 'body';
      const secret = client.secret?.reveal() ?? '';
      const body: Record<string, string> =
        how === 'bearer' ? {} : { [revocation.parameter ?? 'token']: refresh ?? access };
      if (how === 'body') Object.assign(body, { client_id: client.clientId, client_secret: secret });
      const basic = `Basic ${Buffer.from(`${encode(client.clientId)}:${encode(secret)}`).toString('base64')}`;
      const isJson = declared.token_format === 'json' || revocation.method === 'DELETE';
      const { status, json } = await send(
        {
          method: revocation.method ?? 'POST',
          url: revocation.url.replace('{client_id}', encodeURIComponent(client.clientId)),
          headers: {
            ...{ accept: 'application/json', ...declared.token_headers },
            'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
            ...(how === 'basic' ? { authorization: basic } : {}),
            ...(how === 'bearer' ? { authorization: `Bearer ${access}` } : {}),
          },
          body: isJson ? JSON.stringify(body) : new URLSearchParams(body).toString(),
        },
        bounds.revocationMs,
      );
      return status >= 200 && status < 300 && json?.ok !== false;
    },
  };
}

interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');

/** Without a declared issuer, an `iss` may only name the origin of the authorization URL. */
function serverOf(declared: OauthDeclaration, answer: URLSearchParams) {
  const { origin } = new URL(declared.authorization_url);
  const given = answer.get('iss') ?? '';
  const own = URL.parse(given)?.origin === origin ? given : origin;
  return {
    issuer: declared.issuer ?? own,
    token_endpoint: declared.token_url,
    authorization_response_iss_parameter_supported: declared.issuer !== undefined,
  };
}

function proofOf(oauth: Library, { oauth: declared, client: { secret } }: ProviderOfBundle) {
  if (secret === null || declared.client_authentication === 'none') return oauth.None();
  const isBasic = declared.client_authentication === 'basic';
  return isBasic ? oauth.ClientSecretBasic(secret.reveal()) : oauth.ClientSecretPost(secret.reveal());
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: Record<string, unknown> | undefined;
}

/**
 * Turns the answers of providers into those of RFC 6749. Some send errors with status 200, lives as texts, or types of their own. What
 * is not needed, such as an ID token, is left out.
 */
function toStandardAnswer({ status, headers, json }: Answer): Response {
  const { access_token, refresh_token, expires_in, scope, error } = json ?? {};
  const isToken = (value: unknown) => typeof value === 'string' && value !== '' && value.length <= bounds.tokenBytes;
  if (status === 200 && isToken(access_token)) {
    const life = Number(expires_in);
    const isLife = typeof expires_in !== 'boolean' && life > 0 && life <= longestSeconds;
    return Response.json({
      ...{ access_token, token_type: 'bearer' },
      ...(isToken(refresh_token) ? { refresh_token } : {}),
      ...(isLife ? { expires_in: life } : {}),
      ...(typeof scope === 'string' ? { scope } : {}),
    });
  }
  if (typeof error === 'string' && status < 500 && status !== 429) return Response.json({ error }, { status: 400 });
  const seconds = Number(headers['retry-after']);
  throw new ProviderFailure('unavailable', `status_${status}`, seconds > 0 ? Math.min(seconds, 3600) : undefined);
}

function readObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value = parseJson(body.toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Names and texts of accounts are shown to people. */
const longestText = 200;

function textAt(json: unknown, path: string): string | undefined {
  let found: unknown = json;
  for (const name of path.split('.')) found = isJsonObject(found) ? found[name] : undefined;
  return typeof found === 'string' || typeof found === 'number' ? String(found).slice(0, longestText) : undefined;
}

type Granted = {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
};

function toTokens({ access_token: access, refresh_token: refresh, expires_in: expiresIn, scope }: Granted): Tokens {
  return { access, refresh, expiresIn, scopes: scope?.split(/[ ,]/).filter((name) => name !== '') };
}

/** Errors after which the client itself must be corrected. Some providers have names of their own. */
const clientErrors = new Set([
  ...['invalid_client', 'unauthorized_client', 'redirect_uri_mismatch', 'unsupported_grant_type', 'invalid_scope'],
  ...['incorrect_client_credentials', 'invalid_client_id', 'bad_client_secret', 'bad_redirect_uri'],
]);

/** Replaces errors of the library, whose messages may contain texts of the provider. */
async function withOwnErrors<T>(run: (oauth: Library) => Promise<T>): Promise<T> {
  const oauth = await import('oauth4webapi');
  try {
    return await run(oauth);
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    const { error: named, code } = Object(error) as { readonly error?: unknown; readonly code?: unknown };
    const isNamed = typeof named === 'string' && /^[a-z_]{1,40}$/.test(named);
    if (isNamed) throw new ProviderFailure(clientErrors.has(named) ? 'misconfigured' : 'refused', named);
    throw new ProviderFailure('refused', typeof code === 'string' ? 'answer_invalid' : 'error');
  }
}
