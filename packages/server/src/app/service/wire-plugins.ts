import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createPluginsGuard } from '../../access/authentication.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { type CheckSite, createCheckSite, guardSite, isLoopback } from '../../platform/http/allowed-hosts.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import { listReachableUrls, reservePort } from '../../platform/http/listen.ts';
import { mountPath } from '../../platform/http/mount-plugins.ts';
import { collectOpenApi } from '../../platform/http/openapi/openapi.ts';
import { operationRoutes } from '../../platform/http/openapi/operations.ts';
import { version } from '../../platform/version.ts';
import { createArtifactRepository } from '../../storage/repositories/artifact-repository.ts';
import { createCredentialProfileRepository } from '../../storage/repositories/credential-profile-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createRunRepository } from '../../storage/repositories/run-repository.ts';
import { createFileAccess } from '../../stores/files/list-files.ts';
import { createArtifactStore } from '../../tools/artifacts/artifact-store.ts';
import { type ArtifactUrls, createArtifactUrls } from '../../tools/artifacts/artifact-urls.ts';
import { artifactRoutes } from '../../tools/artifacts/routes.ts';
import type { Catalogue } from '../../tools/catalogue/catalogue.ts';
import { catalogueRoutes } from '../../tools/catalogue/listing/routes.ts';
import { type Executor, isPluginRepeatable } from '../../tools/execution/executor.ts';
import { optionsRoutes } from '../../tools/execution/options/routes.ts';
import { executionRoutes } from '../../tools/execution/routes.ts';
import { createRunOnce } from '../../tools/execution/run-once.ts';
import type { Sandbox } from '../../tools/execution/sandbox/sandbox.ts';
import { createCallTool } from '../../tools/mcp/call-tool.ts';
import { createPluginSearch } from '../../tools/mcp/toolsets/plugin-search.ts';
import { openSvgConverter } from '../../tools/pictures/svg-converter.ts';
import type { AsyncRunsDeps } from '../../tools/runs/async-runs.ts';
import { type AsyncRuns, createAsyncRuns } from '../../tools/runs/async-runs.ts';
import { runRoutes } from '../../tools/runs/routes.ts';
import { createRunEvents, eventDefaults, type RunEvents } from '../../tools/runs/run-events.ts';
import type { RunRepository } from '../../tools/runs/run-repository.ts';
import { openInputKeepers, retentionTasks } from '../../tools/runs/run-retention.ts';
import { createRunStore, type RunStore } from '../../tools/runs/run-store.ts';
import { createRuns, type Runs } from '../../tools/runs/runs.ts';
import { createConsoleFiles } from '../console/console-files.ts';
import { referenceRoutes } from '../console/routes.ts';
import type { Config } from '../settings/config.ts';
import type { ListenAddress, ServiceContext } from './context.ts';
import { openSharedContent, type StoredFiles } from './wire-blobs.ts';
import { serveCredentials } from './wire-connections.ts';
import { openExecution, type Secrets } from './wire-execution.ts';
import type { FilesAddress } from './wire-files.ts';
import { followBundles } from './wire-installation.ts';
import { type SharedMcp, serveMcp, shareMcp } from './wire-mcp.ts';
import { openTokens } from './wire-oauth.ts';

/** The stored outputs of one project. */
const maxArtifacts = 10_000;

export interface PluginsAddress extends ListenAddress {
  readonly mcp: SharedMcp;
  /** Serves the pages of connections at another address. */
  readonly servePages: (app: ListenAddress['app']) => void;
  /** @throws Problem for a bundle that takes no OAuth client */
  readonly checkClient: (bundleId: string) => void;
}

/**
 * Opens the plugins address: catalogue and execution.
 * @param parts `files` are the collections and stored content of this process; null when it serves no files
 */
export async function openPluginsAddress(
  context: ServiceContext,
  { secrets, files: ofFiles }: { secrets: Secrets; files: SharedParts | null },
): Promise<PluginsAddress> {
  const { config } = context;
  const { runStore, ...runServices } = await openRunServices(context);
  // The URLs of icons contain the port, so the port must be known before the catalogue is loaded.
  const reserved = config.pluginsPort === 0 ? await reservePort(config.host) : undefined;
  const port = reserved?.port ?? config.pluginsPort;
  const publicUrl = config.publicPluginsUrl ?? listReachableUrls(config.host, port)[0];
  const { encrypter, hashes } = secrets;
  const { stored, installation, knowledge } = ofFiles ?? (await openSharedParts(context));
  const urls = createArtifactUrls(publicUrl, hashes);
  const artifacts = stored === null ? null : openArtifacts(context, { stored, urls });
  let mcp: SharedMcp | undefined;
  const { sandbox, ...runner } = await openExecution(context, {
    runStore,
    artifacts: artifacts?.store ?? null,
    sources:
      stored === null || artifacts === null ? null : { files: createFileAccess(stored), artifacts: artifacts.store },
    publicUrl,
    installation,
    onChange: (now, before) => mcp?.toolsChanged(now, before),
  });
  const { catalogue, executor } = runner;
  const { app, guard, checkSite } = await openPluginsApp(context, { catalogue, sandbox });
  const search = createPluginSearch(catalogue);
  const { permissionsOf, projectOf, keyOf } = guard;
  catalogueRoutes(app, { catalogue, search, onRequest: guard.checkRead, permissionsOf });
  const served = serveCredentials(context, app, { ...runner, encrypter, guard });
  const { resolve: resolveCredentials, servePages, checkClient } = served;
  const once = createRunOnce({
    idempotency: context.idempotency,
    isRepeatable: ({ bundle_id, plugin_id }) => {
      const plugin = catalogue().findPlugin(bundle_id, plugin_id);
      return plugin !== undefined && isPluginRepeatable(plugin);
    },
    hashes,
  });
  const hasBundle = (bundleId: string) => catalogue().findBundle(bundleId) !== undefined;
  const parts = { ...runServices, runStore, executor, resolveCredentials, hasBundle, encrypter };
  const { runs, events, asyncRuns } = openAsyncRuns(context, parts);
  const authentication = { onRequest: guard.checkRead, onAnyRun: guard.check, projectOf, keyOf, permissionsOf };
  const { own, mounted } = basePathsOf(config);
  const basePath = ({ raw }: { raw: IncomingMessage }) => (context.mounted.has(raw) ? mounted : own);
  const routing = { catalogue, executor, ...authentication, once, resolveCredentials };
  executionRoutes(app, { ...routing, background: runs, basePathOf: basePath });
  optionsRoutes(app, routing);
  const readerOf = (request: Parameters<typeof projectOf>[0]) => ({
    projectId: projectOf(request),
    permissions: permissionsOf(request),
  });
  runRoutes(app, { runs, events, onRequest: guard.checkRead, onChange: guard.check, readerOf, keyOf });
  if (artifacts !== null) artifactRoutes(app, { ...artifacts, clock: context.clock, guard });
  const { logger, registry: metrics, admission } = context;
  const svgConverter = openSvgConverter({ logger, metrics, admission });
  context.resources.defer(() => svgConverter.close());
  const store = artifacts?.store ?? null;
  const callTool = createCallTool({ executor, once, resolveCredentials, artifacts: store, svgConverter });
  const findProfiles = createCredentialProfileRepository(context.database).findBundles;
  const shared = shareMcp(context, { store: knowledge, catalogue, callTool, search, findProfiles });
  mcp = shared;
  serveMcp(app, { mcp: shared, guard, checkSite, ...openTokens(context, 'plugins') });
  referenceRoutes(app, { files: createConsoleFiles(), basePath: own });
  const endStreams = () => {
    asyncRuns.stop(config.stopSeconds * 1000);
    events.close();
    shared.close();
  };
  const release = reserved === undefined ? {} : { releasePort: reserved.release };
  return { app, port, mcp: shared, servePages, checkClient, ...release, endStreams };
}

/** What both addresses of a process use. */
type SharedParts = Pick<FilesAddress, 'knowledge' | 'stored' | 'installation'>;

/** Opens stored content and installed bundles in a process that serves no files; null when it cannot read them. */
async function openSharedParts(context: ServiceContext) {
  const stored = await openSharedContent(context);
  return { stored, installation: stored === null ? null : followBundles(context, stored), knowledge: null };
}

/** The paths below which clients reach `/v1` of the plugins address: at its own URL, and at that of the files address. */
function basePathsOf({ publicPluginsUrl, publicFilesUrl }: Config) {
  return { own: basePathOf(publicPluginsUrl), mounted: basePathOf(publicFilesUrl) + mountPath };
}

function openArtifacts(
  { config, database, clock, newId, logger, registry: metrics, countExceeded }: ServiceContext,
  { stored, urls }: { stored: StoredFiles; urls: ArtifactUrls },
) {
  const { maxProjectBytes, maxFiles } = config;
  const store = createArtifactStore({
    ...stored,
    lifetimeMs: config.artifactHours * 3_600_000,
    most: maxArtifacts,
    urls,
    clock,
    newId,
    logger,
    metrics,
    countExceeded,
    artifacts: createArtifactRepository(database),
    limits: { maxProjectBytes, maxFiles },
  });
  return { store, urls, blobs: stored.blobs, reportDamage: stored.reportDamage, downloadOrder: stored.downloadOrder };
}

/** Creates the HTTP server of the plugins address. */
async function openPluginsApp(
  context: ServiceContext,
  { catalogue, sandbox }: { catalogue: () => Catalogue; sandbox: Sandbox },
) {
  const { config, registry } = context;
  const keyRequired = requiresKey(config);
  const { keyRing, mounted } = context;
  const { tokens } = openTokens(context, 'plugins');
  const guard = createPluginsGuard({ keyRing, tokens, keyRequired, mounted });
  const app = context.newApp('plugins');
  const checkSite = guardPlugins(context, app, keyRequired);
  await collectOpenApi(app, {
    title: 'Quartermaster: plugins',
    description: 'Lists plugins for third-party APIs and runs them with the credentials of the caller.',
    address: 'PLUGINS',
    version,
    serverUrl: basePathOf(config.publicPluginsUrl) === '' ? null : config.publicPluginsUrl,
    keyRequired,
    sessions: false,
  });
  operationRoutes(app, {
    version,
    registry,
    facts: () => ({ version, isolation: sandbox.capabilities, ...factsOf(config, keyRequired, catalogue()) }),
    parts: context.parts,
    guardMetrics: guard.checkMetrics,
  });
  return { app, guard, checkSite };
}

/** Whether requests need a key. By default they need none on loopback, unless a proxy forwards requests. */
function requiresKey({ pluginsKey, host, publicPluginsUrl: url }: Config): boolean {
  if (pluginsKey !== 'auto') return pluginsKey === 'required';
  return !isLoopback(host) || (url !== null && !isLoopback(new URL(url).hostname));
}

/** Applies one rule to all requests while no key is required. MCP applies it itself, because its errors have another form. */
function guardPlugins({ config, mounted }: ServiceContext, app: ListenAddress['app'], keyRequired: boolean): CheckSite {
  const { host, publicPluginsUrl: publicUrl, mcpHosts: names, corsOrigins } = config;
  const checkSite = createCheckSite({ host, publicUrl, names, keyRequired, corsOrigins });
  if (!keyRequired) guardSite(app, { checkSite, mounted });
  return checkSite;
}

function factsOf(config: Config, keyRequired: boolean, { failures, kept }: Catalogue) {
  return {
    key_required: keyRequired,
    bundle_failures: failures.length,
    /** Bundles whose changed files do not load. Their previous version stays active. */
    bundles_kept: kept,
    egress_overrides: config.egressOverrides.size,
  };
}

/** The runs whose records a project keeps, and the results of asynchronous runs of all projects. */
const runBounds = { most: 100_000, resultBytes: 256 * 2 ** 20 } as const;

/** The components that observe runs and store their records. */
interface RunServices {
  readonly runStore: RunStore;
  readonly repository: RunRepository;
  /** Whether the run records of a project include inputs. */
  readonly keepsInputs: (projectId: string | null) => boolean;
}

/** Open it before the components that run plugins, so that it is closed after them. */
async function openRunServices({
  config,
  clock,
  logger,
  registry,
  database,
  resources,
  space,
  startTasks,
  refreshMs,
  changeHooks,
}: ServiceContext): Promise<RunServices> {
  const repository = createRunRepository(database);
  const projects = createProjectRepository(database);
  startTasks(retentionTasks({ repository, clock, bounds: { ...runBounds, days: config.runDays } }));
  const keepers = await openInputKeepers({ find: () => projects.projectsThatKeepInputs(), logger, refreshMs });
  resources.defer(() => keepers.close());
  changeHooks.loadSettings = keepers.refresh;
  const keepsInputs = (projectId: string | null) => projectId !== null && keepers.has(projectId);
  const runStore = createRunStore({ repository, keepsInputs, space, logger, metrics: registry });
  resources.defer(() => runStore.close());
  return { runStore, repository, keepsInputs };
}

interface AsyncRunsOptions extends RunServices, Pick<AsyncRunsDeps, 'encrypter' | 'hasBundle' | 'resolveCredentials'> {
  readonly executor: Executor;
}

/** Open it after the components that run plugins, so that it is closed before them. */
function openAsyncRuns(
  { audit, clock, logger, resources, admission, shares, database }: ServiceContext,
  { runStore, repository, ...options }: AsyncRunsOptions,
): { readonly runs: Runs; readonly events: RunEvents; readonly asyncRuns: AsyncRuns } {
  const asyncRuns = createAsyncRuns({
    ...options,
    repository,
    admission,
    audit,
    clock,
    logger,
    owner: randomUUID(),
    // With SQLite, usually no other process receives cancellations.
    options: database.dialect === 'postgres' ? { cancelMs: 1_000 } : {},
    changed: (runId) => runStore.changed(runId),
  });
  const recovery = startPeriodicTasks([asyncRuns.leaseTask], logger);
  resources.defer(() => recovery.close());
  resources.defer(() => asyncRuns.close());
  const runs = createRuns({ repository, store: runStore, asyncRuns, clock });
  return { runs, events: createRunEvents({ ...eventDefaults, runs, store: runStore, shares }), asyncRuns };
}
