import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, sep } from 'node:path';
import { createCredentialProfileRepository } from './adapters/database/credential-profile-repository.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { HandlerIsolation } from './catalogue/load-catalogue.ts';
import { registerCatalogueMetrics } from './catalogue/metrics.ts';
import { openCatalogue } from './catalogue/open-catalogue.ts';
import { catalogueRoutes } from './catalogue/routes.ts';
import type { Base, Side } from './compose.ts';
import { openBackgroundRuns, openRunRoom } from './compose-runs.ts';
import type { Config } from './config.ts';
import { createConsoleFiles } from './console/console-files.ts';
import { referenceRoutes } from './console/routes.ts';
import { createExecutor } from './execution/create-executor.ts';
import { createBroker } from './execution/egress/create-broker.ts';
import { executionRoutes } from './execution/routes.ts';
import { createRunOnce } from './execution/run-once.ts';
import { openSandbox } from './execution/sandbox/open-sandbox.ts';
import type { Sandbox } from './execution/sandbox/sandbox.ts';
import { createPluginsGate } from './http/authentication.ts';
import { collectOpenApi } from './http/openapi.ts';
import { operationRoutes } from './http/operations.ts';
import { createCallTool } from './mcp/call-tool.ts';
import type { EndpointsDeps } from './mcp/endpoints.ts';
import { type Mcp, mcpRoutes } from './mcp/routes.ts';
import { ownBundles, ownManifests } from './own-bundles.ts';
import { createCredentialProfiles } from './profiles/credential-profiles.ts';
import { checkSealingKeys } from './profiles/profile-upkeep.ts';
import { credentialProfileRoutes } from './profiles/routes.ts';
import type { Sealer } from './profiles/sealing.ts';
import { openSealer } from './profiles/sealing-keys.ts';
import { runRoutes } from './runs/routes.ts';
import { version } from './version.ts';

/** The plugins address: catalogue and execution. */
export async function openPluginsSide(base: Base): Promise<Side> {
  const { config, logger, closer, registry } = base;
  const { recorder, ...runRoom } = await openRunRoom(base);
  const broker = createBroker({
    overrides: config.egressOverrides,
    allow: config.egressAllow,
    version,
    logger,
    metrics: registry,
  });
  closer.add('egress broker', () => broker.close());
  const opening = openSandbox({
    maxChildrenPerBundle: config.pluginProcesses,
    maxChildren: config.pluginProcesses * 4,
    queueLength: 512,
    idleMs: 60_000,
    recycleAfterRuns: 100_000,
    cgroups: config.cgroup,
    logger,
    metrics: registry,
  });
  closer.add('sandbox', async () => (await opening).close());
  const port = config.pluginsPort === 0 ? await findFreePort(config.host) : config.pluginsPort;
  let mcp: Promise<Mcp> | undefined;
  await mkdir(config.installedBundles, { recursive: true });
  const openingCatalogue = openCatalogue({
    folders: [ownBundles, config.installedBundles, ...config.bundleFolders],
    capabilities: { handlers: createIsolationPolicy(config.isolation), sandboxMissing: opening.then(missingIn) },
    operatorHosts: config.bundleHosts,
    publicUrl: config.publicPluginsUrl ?? `http://${config.host}:${port}`,
    logger,
    kept: { file: join(config.dataFolder, 'cache', 'manifests.jsonl'), shipped: ownManifests },
    onChange: (now, before) => void mcp?.then(({ endpoints }) => endpoints.toolsChanged(now, before)),
  });
  const [sandbox, live] = await Promise.all([opening, openingCatalogue]);
  closer.add('catalogue', () => live.close());
  const { current: catalogue } = live;
  registerCatalogueMetrics(registry, catalogue);
  const executor = createExecutor({
    catalogue,
    broker,
    sandbox,
    newId: base.newId,
    logger,
    metrics: registry,
    limits: {
      timeoutMs: config.pluginSeconds * 1000,
      memoryMb: config.pluginMemoryMb,
      maxRunsOfKey: config.maxRunsOfKey,
    },
    journal: recorder,
    version,
  });

  const keyRequired = config.pluginsKey === 'required' || (config.pluginsKey === 'auto' && !isLoopback(config.host));
  const gate = createPluginsGate(base.keyRing, keyRequired, base.mounted);
  const app = base.newApp('plugins');
  await collectOpenApi(app, {
    title: 'Quartermaster: plugins',
    description: 'A catalogue of plugins for third-party APIs, run with the credentials of the caller.',
    version,
    keyRequired,
    sessions: false,
  });
  operationRoutes(app, {
    version,
    registry,
    facts: () => ({
      version,
      isolation: sandbox.capabilities,
      ...factsOf(config, keyRequired, catalogue()),
    }),
    checkReady: base.checkReady,
    guardMetrics: gate.check,
  });
  catalogueRoutes(app, { catalogue, onRequest: gate.check });
  const sealer = openSealer(config);
  const profiles = await openProfiles(base, { catalogue, sealer });
  credentialProfileRoutes(app, { profiles, gate });
  const resolveCredentials = profiles.resolve;
  const once = createRunOnce({ idempotency: base.idempotency, keep: base.idempotencyRepository.complete });
  const wish = { ...runRoom, recorder, executor, resolveCredentials, sealer };
  const { runs, events, background } = openBackgroundRuns(base, wish);
  const { check: onRequest, projectOf, keyOf } = gate;
  executionRoutes(app, { executor, onRequest, projectOf, keyOf, once, resolveCredentials, background: runs });
  runRoutes(app, { runs, events, onRequest, projectOf });
  const openMcp = () => {
    mcp ??= loadMcp(config, {
      catalogue,
      callTool: createCallTool({ executor, once, resolveCredentials }),
      version,
      logger,
    });
    return mcp;
  };
  mcpRoutes(app, { open: openMcp, onRequest, projectOf, keyOf });
  referenceRoutes(app, createConsoleFiles());
  const endStreams = () => {
    background.stop(config.stopSeconds * 1000);
    events.close();
    void mcp?.then(({ endpoints }) => endpoints.close());
  };
  return { app, port, endStreams };
}

function missingIn({ capabilities }: Sandbox): string | null {
  return capabilities.sandbox.available ? null : capabilities.sandbox.missing;
}

/** Refuses to start while there are profiles that no key of the settings opens: better than runs that fail. */
async function openProfiles(
  { database, clock, newId }: Base,
  { catalogue, sealer }: { catalogue: () => Catalogue; sealer: Sealer | null },
) {
  const repository = createCredentialProfileRepository(database);
  await checkSealingKeys(repository, sealer);
  return createCredentialProfiles({ repository, sealer, catalogue, clock, newId });
}

/** With the protocol's library, which is read when the first client comes. */
async function loadMcp(
  { host, publicPluginsUrl: publicUrl, mcpHosts: names }: Config,
  deps: EndpointsDeps,
): Promise<Mcp> {
  const [{ createEndpoints }, { createCheckHosts }] = await Promise.all([
    import('./mcp/endpoints.ts'),
    import('./mcp/allowed-hosts.ts'),
  ]);
  return { endpoints: createEndpoints(deps), checkHosts: createCheckHosts({ host, publicUrl, names }) };
}

function factsOf(config: Config, keyRequired: boolean, { failures, kept }: Catalogue) {
  return {
    key_required: keyRequired,
    bundle_failures: failures.length,
    /** Changed into something that does not load: their version before is in force. */
    bundles_kept: kept,
    egress_overrides: config.egressOverrides.size,
  };
}

/** Code that came with the product is ours; code from elsewhere is not trusted unless the operator says so. */
function createIsolationPolicy(wanted: Config['isolation']): (bundleFolder: string) => HandlerIsolation {
  if (wanted !== 'auto') return () => wanted;
  return (bundleFolder) => (bundleFolder.startsWith(ownBundles + sep) ? 'process' : 'sandbox');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The catalogue names its own address (icons), so the port must be known before there is a server. */
async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  return address.port;
}
