import { ofService } from '../../access/accounts/people-routes.ts';
import { createOriginCheck } from '../../access/accounts/same-origin.ts';
import { createBundleClients } from '../../access/connections/bundle-clients.ts';
import { createConnectFlow, redirectUriOf } from '../../access/connections/connect-flow.ts';
import { connectRoutes } from '../../access/connections/connect-routes.ts';
import { createConnectionMetrics } from '../../access/connections/connection-metrics.ts';
import { createConnectionTokens } from '../../access/connections/connection-tokens.ts';
import { type ConnectionsDeps, createConnections } from '../../access/connections/connections.ts';
import { createProviders } from '../../access/connections/provider.ts';
import { bundleClientRoutes } from '../../access/connections/routes.ts';
import type { Encrypter } from '../../access/credential-profiles/encryption.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { everyPermission } from '../../platform/permissions.ts';
import { version } from '../../platform/version.ts';
import {
  createBundleClientRepository,
  createCredentialProfileRepository,
} from '../../storage/repositories/credential-profile-repository.ts';
import { createOauthRepository } from '../../storage/repositories/oauth-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import type { Catalogue } from '../../tools/catalogue/catalogue.ts';
import { readCredentials } from '../../tools/catalogue/credential-bounds.ts';
import { credentialProperties } from '../../tools/catalogue/manifest/check-credentials.ts';
import { inLanguage } from '../../tools/catalogue/manifest/languages.ts';
import { getBundle } from '../../tools/catalogue/problems.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import type { ServiceContext } from './context.ts';

const hour = 3_600_000;

/** Browsers reach the pages of connections at the files address, or at the plugins address where this process serves no other. */
function baseUrlOf({ config, consoleUrl, urlsOf }: ServiceContext): () => string {
  if (config.serve !== 'plugins') return consoleUrl;
  return () => config.publicPluginsUrl ?? urlsOf('plugins')[0] ?? '';
}

function openClients({ database, clock, newId }: ServiceContext, encrypter: Encrypter | null) {
  return createBundleClients({ repository: createBundleClientRepository(database), encrypter, clock, newId });
}

/** Opens the connections of end users. Its requests have a broker of their own. */
export function openConnections(
  context: ServiceContext,
  { catalogue, encrypter }: { readonly catalogue: () => Catalogue; readonly encrypter: Encrypter | null },
) {
  const { config, database, logger, resources } = context;
  const { egressOverrides: overrides, egressAllow: allow } = config;
  const outbound = createBroker({ overrides, allow, version, logger });
  resources.defer(() => outbound.close());
  const providers = createProviders(outbound);
  const baseUrl = baseUrlOf(context);
  const common = {
    ...context,
    repository: createCredentialProfileRepository(database),
    encrypter,
    clients: openClients(context, encrypter),
    oauthOf: (bundleId: string) => catalogue().findBundle(bundleId)?.manifest.oauth,
    countEvent: createConnectionMetrics(context.registry),
  };
  const tokens = createConnectionTokens({ ...common, providers });
  const deps: ConnectionsDeps = {
    ...common,
    tokens,
    providers,
    records: createOauthRepository(database),
    baseUrl,
    returnOrigins: config.connectionOrigins,
    getBundle: (bundleId, permissions = everyPermission) => describeBundle(catalogue(), bundleId, permissions),
  };
  const connections = createConnections(deps);
  const sweep = startPeriodicTasks(
    [{ name: 'forget pending connections', pause: hour, run: connections.sweep }],
    logger,
  );
  resources.defer(() => sweep.close());
  const flow = createConnectFlow({
    ...deps,
    findProject: createProjectRepository(database).findProject,
    readCredentials: (bundleId, credentials) => readCredentials(getBundle(catalogue(), bundleId), credentials),
  });
  const servePages = (app: App) => {
    const { publicFilesUrl, publicPluginsUrl, serve } = config;
    const publicUrl = serve === 'plugins' ? publicPluginsUrl : publicFilesUrl;
    connectRoutes(app, {
      flow,
      baseUrl,
      origins: createOriginCheck(publicUrl === null ? null : new URL(publicUrl).origin),
    });
  };
  return { connections, resolve: tokens.resolve, servePages };
}

/** Serves the OAuth clients of bundles at the files address. */
export function serveBundleClients(
  context: ServiceContext,
  app: App,
  { guard, encrypter }: { readonly guard: ManagerGuard; readonly encrypter: Encrypter | null },
): void {
  const baseUrl = baseUrlOf(context);
  const clients = openClients(context, encrypter);
  bundleClientRoutes(app, { clients, onRequest: ofService(guard), redirectUri: () => redirectUriOf(baseUrl()) });
}

function describeBundle(catalogue: Catalogue, bundleId: string, permissions: typeof everyPermission) {
  const { manifest, secretNames } = getBundle(catalogue.visibleTo(permissions), bundleId);
  const required: unknown = Reflect.get(manifest.credentials_schema ?? {}, 'required');
  return {
    id: bundleId,
    name: inLanguage(manifest.name, 'en'),
    oauth: manifest.oauth,
    fields: [...credentialProperties(manifest)].map(([name, { description }]) => ({
      name,
      description: typeof description === 'string' ? description : '',
      isSecret: secretNames.size === 0 || secretNames.has(name),
      isRequired: Array.isArray(required) && required.includes(name),
    })),
  };
}
