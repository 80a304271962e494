import { connectionMember } from '@quartermaster/contract';
import { ofService } from '../../access/accounts/people-routes.ts';
import { createOriginCheck } from '../../access/accounts/same-origin.ts';
import { createBundleClients } from '../../access/connections/bundle-clients.ts';
import { createConnectFlow, redirectUriOf } from '../../access/connections/connect-flow.ts';
import { connectRoutes } from '../../access/connections/connect-routes.ts';
import type { ConnectFlowDeps } from '../../access/connections/connect-steps.ts';
import { createConnectionMetrics } from '../../access/connections/connection-metrics.ts';
import { createConnectionRows } from '../../access/connections/connection-rows.ts';
import { type ConnectionsDeps, createConnections } from '../../access/connections/connections.ts';
import { noOauth } from '../../access/connections/problems.ts';
import { createProviders } from '../../access/connections/provider.ts';
import { createUsedConnections } from '../../access/connections/refresh-connection.ts';
import { createResolveConnection } from '../../access/connections/resolve-connection.ts';
import { bundleClientRoutes, connectionRoutes } from '../../access/connections/routes.ts';
import {
  type CredentialProfilesDeps,
  createCredentialProfiles,
} from '../../access/credential-profiles/credential-profiles.ts';
import type { Encrypter } from '../../access/credential-profiles/encryption.ts';
import type { ResolveCredentials } from '../../access/credential-profiles/resolve-credentials.ts';
import { credentialProfileRoutes } from '../../access/credential-profiles/routes.ts';
import { keyless } from '../../platform/admission/owner.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard, ManagerGuard } from '../../platform/http/guard.ts';
import { everyPermission } from '../../platform/permissions.ts';
import { version } from '../../platform/version.ts';
import {
  createBundleClientRepository,
  createCredentialProfileRepository,
} from '../../storage/repositories/credential-profile-repository.ts';
import { createOauthRepository } from '../../storage/repositories/oauth-repository.ts';
import { createProjectDeletionRepository } from '../../storage/repositories/project-deletions.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import type { Catalogue } from '../../tools/catalogue/catalogue.ts';
import { readCredentials } from '../../tools/catalogue/credential-bounds.ts';
import { credentialProperties } from '../../tools/catalogue/manifest/check-credentials.ts';
import { inLanguage } from '../../tools/catalogue/manifest/languages.ts';
import { getBundle } from '../../tools/catalogue/problems.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import type { Executor } from '../../tools/execution/executor.ts';
import { outcomeProblem } from '../../tools/execution/problems.ts';
import { createRunPolicy, defaultLimits } from '../../tools/execution/run-policy.ts';
import type { ServiceContext } from './context.ts';

const sweepMs = 600_000;

/** Browsers reach the pages of connections at the files address, or at the plugins address where this process serves no other. */
function baseUrlOf({ config, consoleUrl, urlsOf }: ServiceContext): () => string {
  if (config.serve !== 'plugins') return consoleUrl;
  return () => config.publicPluginsUrl ?? urlsOf('plugins')[0] ?? '';
}

function openClients({ database, clock, newId }: ServiceContext, encrypter: Encrypter | null) {
  return createBundleClients({ repository: createBundleClientRepository(database), encrypter, clock, newId });
}

interface CredentialParts {
  readonly catalogue: () => Catalogue;
  readonly executor: Pick<Executor, 'verifyCredentials'>;
  readonly encrypter: Encrypter | null;
}

/** Serves credential profiles and connections, and resolves what runs name of them. */
export function serveCredentials(
  context: ServiceContext,
  app: App,
  { guard, ...parts }: CredentialParts & { readonly guard: Guard },
) {
  const profiles = openProfiles(context, parts);
  credentialProfileRoutes(app, { profiles, guard });
  const { resolveConnection, servePages, ...connections } = openConnections(context, parts);
  connectionRoutes(app, { ...connections, guard });
  if (context.config.serve === 'plugins') servePages(app);
  const resolve: ResolveCredentials = (user, bundleId, credentials) => {
    const { resolve } = Object.hasOwn(credentials, connectionMember) ? { resolve: resolveConnection } : profiles;
    return resolve(user, bundleId, credentials);
  };
  const checkClient = (bundleId: string) => {
    const { oauth } = describeBundle(parts.catalogue(), bundleId, everyPermission);
    if (oauth === undefined) throw noOauth(bundleId);
  };
  return { resolve, servePages, checkClient };
}

function openProfiles(context: ServiceContext, { catalogue, encrypter }: Omit<CredentialParts, 'executor'>) {
  const repository = createCredentialProfileRepository(context.database);
  const read: CredentialProfilesDeps['readCredentials'] = (bundleId, credentials, permissions) =>
    readCredentials(getBundle(catalogue().visibleTo(permissions ?? everyPermission), bundleId), credentials);
  return createCredentialProfiles({ ...context, repository, encrypter, readCredentials: read });
}

/** Requests to providers have a broker of their own. */
function openConnections(context: ServiceContext, { catalogue, executor, encrypter }: CredentialParts) {
  const { config, database, logger, resources } = context;
  const outbound = createBroker({ overrides: config.egressOverrides, allow: config.egressAllow, version, logger });
  resources.defer(() => outbound.close());
  const repository = createCredentialProfileRepository(database);
  const baseUrl = baseUrlOf(context);
  const rows = createConnectionRows({ ...context, repository, encrypter });
  const deps: ConnectionsDeps = {
    ...context,
    repository,
    encrypter,
    rows,
    providers: createProviders(outbound),
    clients: openClients(context, encrypter),
    oauthOf: (bundleId) => catalogue().findBundle(bundleId)?.manifest.oauth,
    countEvent: createConnectionMetrics(context.registry),
    records: createOauthRepository(database),
    baseUrl,
    returnOrigins: config.corsOrigins,
    getBundle: (bundleId, permissions = everyPermission) => describeBundle(catalogue(), bundleId, permissions),
  };
  const connections = createConnections(deps);
  const { findRunning } = createProjectDeletionRepository(database);
  const sweep = { name: 'forget connections', pause: sweepMs, run: connections.sweep };
  const endAccess = async () => connections.removeOfProjects(await findRunning());
  const ofProjects = { name: 'revoke connections of deleted projects', pause: 2000, run: endAccess };
  context.startTasks([sweep, ofProjects]);
  const flow = createConnectFlow({
    ...deps,
    findProject: createProjectRepository(database).findProject,
    readCredentials: (bundleId, given) => {
      const bundle = getBundle(catalogue(), bundleId);
      const credentials = readCredentials(bundle, given);
      // It refuses what cannot be sent, such as a key that no header can carry.
      createRunPolicy(bundle, credentials, { limits: defaultLimits });
      return credentials;
    },
    verify: createVerify(catalogue, executor),
  });
  const publicUrl = config.serve === 'plugins' ? config.publicPluginsUrl : config.publicFilesUrl;
  const origins = createOriginCheck(publicUrl === null ? null : new URL(publicUrl).origin);
  return {
    connections,
    confirm: flow.confirm,
    resolveConnection: createResolveConnection(rows, createUsedConnections(deps)),
    servePages: (app: App) => connectRoutes(app, { flow, baseUrl, origins }),
  };
}

function createVerify(catalogue: () => Catalogue, executor: CredentialParts['executor']): ConnectFlowDeps['verify'] {
  return async (projectId, bundleId, credentials) => {
    if (getBundle(catalogue(), bundleId).manifest.verify === undefined) return;
    const caller = { ...keyless, projectId, origin: 'verify' } as const;
    const { signal } = new AbortController();
    const { outcome, runId } = await executor.verifyCredentials({ bundle_id: bundleId, credentials }, signal, caller);
    // A third party that refuses the request, for example because of a plan, has not called the credentials wrong.
    if (outcome.kind !== 'succeeded' && outcome.kind !== 'upstream_rejected') throw outcomeProblem(outcome, runId);
  };
}

interface ClientParts {
  readonly encrypter: Encrypter | null;
  /** @throws Problem for a bundle that takes no client. A process without a catalogue checks nothing. */
  readonly checkBundle: (bundleId: string) => void;
}

/** Serves the OAuth clients of bundles at the files address. */
export function serveBundleClients(
  context: ServiceContext,
  app: App,
  { guard, ...parts }: ClientParts & { readonly guard: ManagerGuard },
): void {
  const baseUrl = baseUrlOf(context);
  const clients = openClients(context, parts.encrypter);
  bundleClientRoutes(app, {
    ...parts,
    clients,
    onRequest: ofService(guard),
    redirectUri: () => redirectUriOf(baseUrl()),
  });
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
