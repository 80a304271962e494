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

export type Revocable = Pick<Tokens, 'access'> & Partial<Pick<Tokens, 'refresh'>>;

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
  revoke(of: ProviderOfBundle, tokens: Revocable): Promise<boolean>;
}

const bounds = { timeoutMs: 15_000, revocationMs: 5000, answerBytes: 256 * 1024, tokenBytes: 8 * 1024 } as const;
/** What a token may contain (RFC 6749, appendix A.12), and a header can carry. */
const tokenText = /^[\x20-\x7e]+$/;
/** A longer life is a mistake. */
const longestSeconds = 10 * 365 * 86_400;

type Library = typeof import('oauth4webapi');

export function createProviders(outbound: Outbound): Providers {
  const send = createSend(outbound);
  return {
    authorizationUrl,
    exchange: (of, answer, { state, verifier, redirectUri }) =>
      withOwnErrors(async (oauth) => {
        const server = serverOf(of.oauth, answer);
        const client = { client_id: of.client.clientId };
        const code = oauth.validateAuthResponse(server, client, answer, state);
        const options = requestOptions(oauth, of.oauth, send);
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
        const options = requestOptions(oauth, of.oauth, send);
        const request = oauth.refreshTokenGrantRequest;
        const response = await request(server, client, proofOf(oauth, of), refreshToken, options);
        return toTokens(await oauth.processRefreshTokenResponse(server, client, response));
      }),
    findAccount: ({ account }, access) =>
      account === undefined ? Promise.resolve(null) : findAccount(send, account, access),
    revoke: (of, tokens) => revoke(send, of, tokens),
  };
}

type Send = (request: EgressRequest, timeoutMs?: number) => Promise<Answer>;

function createSend(outbound: Outbound): Send {
  return async (request, timeoutMs = bounds.timeoutMs) => {
    const { host } = new URL(request.url);
    const policy: OutboundPolicy = {
      hosts: new Set([host]),
      schemes: new Set(['https']),
      credentials: new Map(),
      inject: [],
      maxRedirects: 0,
      maxResponseBytes: bounds.answerBytes,
      timeoutMs,
    };
    // It does not end with the run that needs the token, because the answer may contain the only copy of a new one.
    const result = await outbound.send(request, policy, AbortSignal.timeout(timeoutMs + 1000));
    if (result.kind !== 'response') throw new ProviderFailure('unavailable', result.kind);
    return { status: result.status, headers: result.headers, json: readObject(result.body) };
  };
}

function requestOptions(oauth: Library, { token_format: format, token_headers: more }: OauthDeclaration, send: Send) {
  return {
    [oauth.customFetch]: async (url: string, { method, headers, body }: Sent) => {
      const form = new URLSearchParams(String(body));
      const isJson = format === 'json';
      const content = isJson ? JSON.stringify(Object.fromEntries(form)) : form.toString();
      const type = isJson ? { 'content-type': 'application/json' } : {};
      return toStandardAnswer(await send({ method, url, headers: { ...headers, ...type, ...more }, body: content }));
    },
  };
}

async function authorizationUrl(
  { oauth: declared, client }: ProviderOfBundle,
  { state, verifier, redirectUri, scopes }: Authorisation,
): Promise<URL> {
  const url = new URL(declared.authorization_url);
  const add = (parameters: Readonly<Record<string, string>> = {}) => {
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  };
  add(declared.authorization_parameters);
  add({ response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, state });
  if (scopes.length > 0) add({ [declared.scope_parameter ?? 'scope']: scopes.join(declared.scope_separator ?? ' ') });
  if (declared.pkce === false) return url;
  const { calculatePKCECodeChallenge } = await import('oauth4webapi');
  add({ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' });
  return url;
}

async function findAccount(send: Send, declared: NonNullable<OauthDeclaration['account']>, access: string) {
  const { url, graphql, id, label } = declared;
  const headers = { accept: 'application/json', authorization: `Bearer ${access}`, ...declared.headers };
  const json = { ...headers, 'content-type': 'application/json' };
  const { status, json: answer } = await send(
    graphql === undefined
      ? { method: 'GET', url, headers }
      : { method: 'POST', url, headers: json, body: JSON.stringify({ query: graphql }) },
  );
  const found = { id: textAt(answer, id), label: textAt(answer, label) };
  if (status !== 200 || found.id === undefined) throw new ProviderFailure('unavailable', 'account_unknown');
  return { id: found.id, label: found.label ?? found.id };
}

async function revoke(send: Send, { oauth, client }: ProviderOfBundle, { access, refresh = access }: Revocable) {
  const { revocation } = oauth;
  if (revocation === undefined) return false;
  const { parameter = 'token', method = 'POST' } = revocation;
  const how = revocation.authentication ?? oauth.client_authentication ?? 'body';
  const secret = client.secret?.reveal() ?? '';
  const isJson = oauth.token_format === 'json' || method === 'DELETE';
  const headers: Record<string, string> = { accept: 'application/json', ...oauth.token_headers };
  headers['content-type'] = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
  const pair = Buffer.from(`${encode(client.clientId)}:${encode(secret)}`).toString('base64');
  if (how === 'basic') headers.authorization = `Basic ${pair}`;
  if (how === 'bearer') headers.authorization = `Bearer ${access}`;
  const body: Record<string, string> = {};
  // Where the access token itself is the proof, it is the one that ends.
  if (how !== 'bearer') body[parameter] = parameter === 'access_token' ? access : refresh;
  if (how === 'body') Object.assign(body, { client_id: client.clientId, client_secret: secret });
  const content = isJson ? JSON.stringify(body) : new URLSearchParams(body).toString();
  const url = revocation.url.replace('{client_id}', encodeURIComponent(client.clientId));
  const { status, json } = await send({ method, url, headers, body: content }, bounds.revocationMs);
  return status >= 200 && status < 300 && json?.ok !== false;
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
  const isToken = (value: unknown) =>
    typeof value === 'string' && value.length <= bounds.tokenBytes && tokenText.test(value);
  if (status === 200 && isToken(access_token)) {
    const life = Number(expires_in);
    const isLife = typeof expires_in !== 'boolean' && life > 0 && life <= longestSeconds;
    return Response.json({
      access_token,
      token_type: 'bearer',
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
