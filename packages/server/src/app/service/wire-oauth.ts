import { type AccessTokens, createAccessTokens } from '../../access/oauth/access-tokens.ts';
import { applicationRoutes } from '../../access/oauth/application-routes.ts';
import type { AuthorizationServer } from '../../access/oauth/authorization-server.ts';
import { createClientDocuments } from '../../access/oauth/client-documents.ts';
import { consentRoutes } from '../../access/oauth/consent-routes.ts';
import { serverMetadataRoutes } from '../../access/oauth/metadata-routes.ts';
import { createOauthMetrics, type OauthEvent } from '../../access/oauth/oauth-metrics.ts';
import type { OauthRepository } from '../../access/oauth/oauth-repository.ts';
import { type AddressName, createResources, type Resources } from '../../access/oauth/resources.ts';
import { oauthRoutes } from '../../access/oauth/routes.ts';
import { onceRetried } from '../../platform/concurrency/once.ts';
import type { App } from '../../platform/http/app.ts';
import { version } from '../../platform/version.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createOauthRepository } from '../../storage/repositories/oauth-repository.ts';
import type { ServiceContext } from './context.ts';
import type { Access } from './open-access.ts';

const sweepPauseMs = 600_000;

/** What one address needs to accept access tokens, and to tell applications where they sign in. */
export interface Tokens {
  readonly tokens: AccessTokens;
  readonly resources: Resources;
  readonly address: AddressName;
}

export function openTokens({ database, clock, config, urlsOf }: ServiceContext, address: AddressName): Tokens {
  const resources = createResources({
    publicUrls: { files: config.publicFilesUrl, plugins: config.publicPluginsUrl },
    urlsOf,
  });
  const repository = createOauthRepository(database);
  return { tokens: createAccessTokens({ repository, clock, resources, address }), resources, address };
}

/** Serves the authorization server at the files address. Its library is loaded with the first request to it. */
export function serveOauth(context: ServiceContext, app: App, access: Access): void {
  const { clock, newId, startTasks } = context;
  const { resources } = openTokens(context, 'files');
  const repository = createOauthRepository(context.database);
  const sweep = { name: 'forget OAuth records', pause: sweepPauseMs, run: () => repository.sweep(clock.now()) };
  startTasks([sweep]);
  const countEvent = createOauthMetrics(context.registry);
  const open = createOpening(context, { repository, resources, countEvent });
  const deps = { repository, clock, newId, resources, open, countEvent };
  serverMetadataRoutes(app, { resources });
  oauthRoutes(app, { ...deps, addressOf: access.addressOf });
  consentRoutes(app, { ...deps, sessions: access.callers, people: access.people });
  applicationRoutes(app, { repository, clock, guard: access.projectRoutes.guard, countEvent });
}

interface Opening {
  readonly repository: OauthRepository;
  readonly resources: Resources;
  readonly countEvent: (event: OauthEvent) => void;
}

/** The issuer is known when the address listens, and then never changes. */
function createOpening(
  { audit, config, clock, logger, database, resources: closing }: ServiceContext,
  { repository, resources, countEvent }: Opening,
): (issuer: string) => Promise<AuthorizationServer> {
  let issuer = '';
  const create = onceRetried(async () => {
    const [{ createAuthorizationServer }, { createBroker }] = await Promise.all([
      import('../../access/oauth/authorization-server.ts'),
      import('../../tools/egress/create-broker.ts'),
    ]);
    // A separate broker without credentials, because documents may come from any public address.
    const broker = createBroker({ overrides: config.egressOverrides, allow: config.egressAllow, version, logger });
    closing.defer(() => broker.close());
    const documents = createClientDocuments({ repository, clock, outbound: broker, logger, countEvent });
    const accounts = createAccountRepository(database);
    const hasAccount = async (id: string) => (await accounts.findAccount(id))?.disabledAt === null;
    const deps = { issuer, repository, audit, clock, logger, documents, resources, hasAccount, countEvent };
    return await createAuthorizationServer(deps);
  });
  return (found) => {
    issuer = found;
    return create();
  };
}
