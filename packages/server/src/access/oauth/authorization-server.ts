import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { oauthScopes } from '@quartermaster/contract';
import inject from 'light-my-request';
import type { Client, Context, InteractionModel, Provider } from 'oidc-provider';
import { actorOf, serviceSource } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import { type AdapterEvent, createAdapter, hashSecret } from './adapter.ts';
import type { ClientDocuments } from './client-documents.ts';
import type { OauthEvent } from './oauth-metrics.ts';
import type { OauthRepository } from './oauth-repository.ts';
import type { Resources } from './resources.ts';

const seconds = { accessToken: 3600, code: 60, request: 600, refreshToken: 30 * 86_400, grant: 365 * 86_400 } as const;
export const grantMs = seconds.grant * 1000;

export interface AuthorizationServerDeps extends Pick<CommonDeps, 'audit' | 'clock' | 'logger'> {
  readonly issuer: string;
  readonly repository: OauthRepository;
  readonly documents: ClientDocuments;
  readonly resources: Resources;
  readonly hasAccount: (id: string) => Promise<boolean>;
  readonly countEvent: (event: OauthEvent) => void;
}

/** A request that has been checked and normalised. */
export interface ProtocolRequest {
  readonly method: 'GET' | 'POST';
  /** The path with the query, as this address serves it. */
  readonly url: string;
  readonly cookie?: string | undefined;
  /** The parameters of a form. */
  readonly form?: URLSearchParams;
}

export interface ProtocolResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** The request of an application that waits for the decision of a person. */
export type PendingRequest = InteractionModel;

export type Decision = { readonly grantId: string; readonly accountId: string } | { readonly error: 'access_denied' };

/** The protocol part of the authorization server. The library implements it; nothing of the library is used elsewhere. */
export interface AuthorizationServer {
  handle(request: ProtocolRequest): Promise<ProtocolResponse>;
  findRequest(id: string): Promise<PendingRequest | undefined>;
  findClient(id: string): Promise<Client | undefined>;
  /** Claims a request in one statement, so that it is decided once. @returns false when another call has claimed it */
  claim(request: PendingRequest): Promise<boolean>;
  /** Stores the decision. @returns the URL at which the browser continues */
  decide(request: PendingRequest, decision: Decision): Promise<string>;
}

/** Loads the library and creates the authorization server. It takes 45 MiB, which a service without OAuth never needs. */
export async function createAuthorizationServer(deps: AuthorizationServerDeps): Promise<AuthorizationServer> {
  const library = await loadLibrary();
  const { errors } = library;
  const adapter = createAdapter({
    ...deps,
    findClient: async (id) => {
      const client = await deps.documents.find(id);
      return client === undefined ? undefined : { ...client };
    },
    refuse: (reason) => new errors.InvalidGrant(reason),
    onEvent: recordEvents(deps),
  });
  const provider = new library.Provider(deps.issuer, configurationOf(deps, { library, adapter }));
  provider.proxy = true;
  provider.on('server_error', (_context: Context, error: Error) =>
    deps.logger.error({ err: error }, 'authorization server failed'),
  );
  issuePrefixedTokens(provider);
  const { host, protocol } = new URL(deps.issuer);
  const callback = provider.callback();
  const basePath = basePathOf(deps.issuer);
  const dispatch = (request: IncomingMessage, response: ServerResponse) =>
    callback(Object.assign(request, { baseUrl: basePath }), response);

  return {
    // The library answers a request in memory, so that every hook of the address applies to what is sent.
    handle: async ({ method, url, cookie, form }) => {
      const response = await inject(dispatch, {
        method,
        url,
        headers: {
          host,
          'x-forwarded-proto': protocol.slice(0, -1),
          ...(cookie === undefined ? {} : { cookie }),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(form === undefined ? {} : { payload: form.toString() }),
      });
      const headers = response.headers as Record<string, string | string[]>; // the library sets texts
      return { status: response.statusCode, headers, body: response.rawPayload };
    },
    findRequest: (id) => provider.Interaction.find(id),
    findClient: (id) => provider.Client.find(id),
    claim: ({ uid }) => {
      const now = deps.clock.now();
      return deps.repository.useRecord('Interaction', hashSecret(uid), { now, since: now, most: 1 });
    },
    decide: async (request, decision) => {
      request.result =
        'error' in decision
          ? { error: decision.error, error_description: 'The person refused the request.' }
          : {
              login: { accountId: decision.accountId, remember: false },
              consent: { grantId: decision.grantId },
            };
      await request.save(Math.max(1, request.exp - Math.floor(deps.clock.now() / 1000)));
      return request.returnTo;
    },
  };
}

/** The library ends a consent after a code or token of it was used again. That is one event. */
function recordEvents({ audit, countEvent, repository }: AuthorizationServerDeps) {
  const reused = new Set<string>();
  return async (event: AdapterEvent, grantId: string): Promise<void> => {
    countEvent(event);
    if (event === 'shared' || reused.has(grantId)) return;
    if (event !== 'revoked') reused.add(grantId);
    const action = event === 'revoked' ? 'application.revoked' : 'application.ended_by_reuse';
    const projectId = (await repository.findGrant(grantId))?.projectId ?? null;
    const source = { ...serviceSource, ...actorOf(grantId) };
    await audit.record(source, { action, id: grantId, projectId, details: { reason: event } });
  };
}

type Library = typeof import('oidc-provider');

/** The library warns on standard error about a runtime that it does not know; the log has one JSON object per line. */
async function loadLibrary(): Promise<Library> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}

function configurationOf(
  deps: AuthorizationServerDeps,
  { library, adapter }: { library: Library; adapter: ReturnType<typeof createAdapter> },
): object {
  const { documents, hasAccount, issuer } = deps;
  const { errors } = library;
  const basePath = basePathOf(issuer);
  return {
    adapter,
    // There are no ID tokens. The library requires a key all the same.
    jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
    scopes: ['offline_access'],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'private_key_jwt'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    cookies: {
      keys: [],
      names: { session: 'qm_oauth_session', interaction: 'qm_oauth_request', resume: 'qm_oauth_resume' },
      short: { httpOnly: true, sameSite: 'lax', signed: false },
      long: { httpOnly: true, sameSite: 'lax', signed: false },
    },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      jwks: '/oauth/jwks',
    },
    features: featuresOf(deps, library),
    ttl: {
      AccessToken: seconds.accessToken,
      AuthorizationCode: seconds.code,
      Interaction: seconds.request,
      Session: seconds.request,
      RefreshToken: seconds.refreshToken,
      Grant: seconds.grant,
    },
    interactions: {
      policy: alwaysAsk(library),
      url: (_: Context, { uid }: InteractionModel) => `${basePath}/oauth/requests/${uid}`,
    },
    findAccount: async (_: Context, id: string) =>
      (await hasAccount(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined,
    loadExistingGrant: ({ oidc }: Context) => oidc.provider.Grant.find(oidc.result?.consent?.grantId ?? ''),
    expiresWithSession: () => false,
    issueRefreshToken: (_: Context, client: Client) => client.grantTypeAllowed('refresh_token'),
    // Called before the token is used, so that a request that fails does not use it.
    rotateRefreshToken: ({ oidc }: Context) => {
      const { resource } = oidc.params;
      if (resource !== undefined && resource !== oidc.entities.RefreshToken?.resource) throw new errors.InvalidTarget();
      return true;
    },
    // An access token that an application revokes ends alone.
    revokeGrantPolicy: ({ oidc }: Context) =>
      oidc.entities.AccessToken === undefined || oidc.entities.RefreshToken !== undefined,
    fetch: (url: string | URL) => documents.fetchKeys(String(url)),
    clientBasedCORS: () => false,
    renderError: (context: Context, { error }: { error: string }) => {
      context.type = 'application/json';
      context.body = { error };
    },
  };
}

function featuresOf({ resources, issuer }: AuthorizationServerDeps, { errors }: Library): object {
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    dPoP: { enabled: false },
    revocation: {
      enabled: true,
      allowedPolicy: (_: Context, client: Client, token: { clientId: string }) => token.clientId === client.clientId,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_: Context, __: Client, oneOf?: readonly string[]) => oneOf?.[0] ?? `${issuer}/mcp`,
      useGrantedResource: () => true,
      getResourceServerInfo: (_: Context, text: string) => {
        if (resources.read(text)?.id !== text) throw new errors.InvalidTarget();
        return {
          scope: oauthScopes.join(' '),
          audience: text,
          accessTokenFormat: 'opaque',
          accessTokenTTL: seconds.accessToken,
        };
      },
    },
  };
}

/** A person decides about each request, also of a known application. */
function alwaysAsk({ interactionPolicy }: Library): object {
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  policy.clear();
  policy.add(new Prompt({ name: 'login', requestable: true }));
  const undecided = new Check('undecided', 'a person must decide', ({ oidc }) => oidc.result?.consent === undefined);
  policy.add(new Prompt({ name: 'consent', requestable: true }, undecided));
  return policy;
}

/** Prefixes let scanners recognise tokens, and this service distinguish them from keys. */
function issuePrefixedTokens(provider: Provider): void {
  const models = { AccessToken: 'qmt_', RefreshToken: 'qmr_', AuthorizationCode: 'qmc_' } as const;
  for (const [name, prefix] of Object.entries(models)) {
    const { prototype } = provider[name as keyof typeof models];
    const { generateTokenId } = prototype;
    prototype.generateTokenId = function prefixed() {
      return prefix + generateTokenId.call(this);
    };
  }
}
