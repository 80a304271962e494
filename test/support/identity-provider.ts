import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ending } from './service.ts';

/** The secret has characters that requests must encode. */
export const providerClient = { id: 'quartermaster', secret: `${randomBytes(16).toString('hex')}: +%2F-~` };

/** The person who is signed in at the provider. */
export interface Person {
  sub: string;
  /** Whether they refuse what an application asks for. */
  denies?: boolean;
  claims: Record<string, unknown>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ProviderOptions {
  readonly redirectUris: readonly string[];
  /** The name in the issuer. Another name than that of the console is another site for a browser. */
  readonly host?: string;
  /** Sends the claims of scopes from the UserInfo endpoint only, as providers with small ID tokens do. */
  readonly hasThinTokens?: boolean;
  /** How the client proves itself. Default: `client_secret_post`. */
  readonly authentication?: 'client_secret_post' | 'client_secret_basic' | 'none';
  /** Gives refresh tokens, which work once, and access tokens that live for this many seconds. */
  readonly accessSeconds?: number;
}

/** Starts a provider of OpenID Connect by other authors, on this machine, with a new P-256 key. */
export async function startIdentityProvider(t: Ending, options: ProviderOptions) {
  const { Provider } = await import('oidc-provider');
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const person: Person = { sub: 'ada', claims: {} };
  /** Answers of the test instead of the provider's, by path. */
  const replaced = new Map<string, Handler>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    requests.push(`${request.method} ${path}`);
    const own = path.startsWith('/interaction/') ? interact : provider.callback();
    (replaced.get(path) ?? own)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  const issuer = `http://${options.host ?? '127.0.0.1'}:${port}`;
  const provider = new Provider(issuer, configurationOf(options, person, privateKey)) as unknown as Interactive;
  /** A page on which the person continues without a password. */
  const interact: Handler = (request, response) => {
    if (request.method === 'POST') {
      const decision = person.denies ? { error: 'access_denied' } : { login: { accountId: person.sub }, consent: {} };
      void provider.interactionFinished(request, response, decision);
      return;
    }
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Provider</title><form method="post"><button>Continue</button></form>');
  };
  const signWith = (claims: object, header: object = {}, key: KeyObject = privateKey) => signToken(claims, header, key);
  return { issuer, person, replaced, requests, publicKey, signToken: signWith };
}

/** The part of the provider that the types of the package do not have. */
interface Interactive {
  callback(): Handler;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}

/** What the provider passes to `loadExistingGrant`. */
interface GrantContext {
  readonly oidc: {
    readonly provider: {
      readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<unknown> };
    };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

function configurationOf(options: ProviderOptions, person: Person, privateKey: KeyObject) {
  const { redirectUris, hasThinTokens, accessSeconds, authentication = 'client_secret_post' } = options;
  const isOffline = accessSeconds !== undefined;
  const secret = authentication === 'none' ? {} : { client_secret: providerClient.secret };
  const scopes = ['openid', 'email', 'profile', 'groups', ...(isOffline ? ['offline_access'] : [])];
  const lives = ['Interaction', 'Grant', 'Session', 'AccessToken', 'IdToken'].map((name) => [name, 600]);
  return {
    clients: [
      {
        ...{ client_id: providerClient.id, redirect_uris: redirectUris, token_endpoint_auth_method: authentication },
        ...{ id_token_signed_response_alg: 'ES256', ...secret },
        ...(isOffline ? { grant_types: ['authorization_code', 'refresh_token'] } : {}),
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'first', alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { email: ['email', 'email_verified', 'hd'], profile: ['name', '_claim_names'], groups: ['groups'] },
    scopes,
    clientAuthMethods: [authentication],
    conformIdTokenClaims: hasThinTokens === true,
    ttl: { ...Object.fromEntries(lives), RefreshToken: 600, ...(isOffline ? { AccessToken: accessSeconds } : {}) },
    rotateRefreshToken: true,
    features: { devInteractions: { enabled: false }, revocation: { enabled: isOffline } },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, ...person.claims }),
    }),
    // The person has consented.
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(scopes.join(' '));
      await grant.save();
      return grant;
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  };
}

export type TestProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

function signToken(claims: object, header: object, privateKey: KeyObject): string {
  const text = [{ alg: 'ES256', kid: 'first', ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

/** Follows the redirects of the provider as a new browser does, and continues on its page. @returns the URL with the answer */
export async function signInAtProvider({ issuer }: TestProvider, url: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = new URL(url);
  for (let method = 'GET'; next.origin === issuer; ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { method, redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';', 1)[0] ?? '').split('=', 2);
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    const isPage = next.pathname.startsWith('/interaction/') && method === 'GET';
    if (location === null && !isPage) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    method = location === null ? 'POST' : 'GET';
    next = new URL(location ?? next, next);
  }
  return next;
}
