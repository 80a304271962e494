import { createConfiguredAdministrator } from '../../access/accounts/configured-administrator.ts';
import { createSetUpLink, type SetUpLink } from '../../access/accounts/set-up-link.ts';
import { openStoreEncrypter } from '../../access/credential-profiles/encryption-key.ts';
import { createFirstKey, type FirstKey, findUnusedFirstKey } from '../../access/projects/first-start.ts';
import { openKeyRing } from '../../access/projects/key-ring.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createStreamShares } from '../../platform/admission/stream-shares.ts';
import { createAudit } from '../../platform/audit/audit.ts';
import { createLimitCounter } from '../../platform/concurrency/limit-counter.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import { createApp } from '../../platform/http/create-app.ts';
import { createDrain, type Drain } from '../../platform/http/drain.ts';
import { type Listening, listen } from '../../platform/http/listen.ts';
import { mountPlugins } from '../../platform/http/mount-plugins.ts';
import { createRequestMetrics } from '../../platform/http/request-metrics.ts';
import { registerWatchdogMetrics } from '../../platform/http/watch-requests.ts';
import { createIdempotency } from '../../platform/idempotency/idempotency.ts';
import { createNewId } from '../../platform/identifier.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { createMetrics, type Registry } from '../../platform/metrics.ts';
import { createNodeCounter } from '../../platform/nodes/count-nodes.ts';
import type { Secret } from '../../platform/secret.ts';
import { closeAll } from '../../platform/server-process/fatal-error.ts';
import { warnAboutRoot } from '../../platform/server-process/operator-error.ts';
import type { Watchdog } from '../../platform/server-process/watchdog.ts';
import { lockFolder } from '../../storage/disk/folder-lock.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createAuditRepository } from '../../storage/repositories/audit-repository.ts';
import { createIdempotencyRepository } from '../../storage/repositories/idempotency-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import type { Config } from '../settings/config.ts';
import { startBackgroundChecks } from './background-checks.ts';
import { type ListenAddress, noChangeHooks, type ServiceContext } from './context.ts';
import { openStreamAccess } from './open-access.ts';
import { openDataFolder, openDiskSpace } from './wire-blobs.ts';
import { serveBundleClients } from './wire-connections.ts';
import { encryptionSettingsOf, openPluginSandbox, openSecrets } from './wire-execution.ts';
import { openFilesAddress } from './wire-files.ts';
import { serveMcpOfFiles, shareKnowledge } from './wire-mcp.ts';
import { describeCapabilities, isOnManyNodes, openCheckedDatabase, openRates, openStoreNode } from './wire-node.ts';
import { openPluginsAddress } from './wire-plugins.ts';

/** The stored responses of one project for `Idempotency-Key`. */
const maxKeptAnswerBytes = 64 * 2 ** 20;

/** The running service. */
export interface Service {
  /** The URLs of the files address, the preferred one first. Empty when this process does not serve it. */
  readonly filesUrls: readonly string[];
  readonly pluginsUrls: readonly string[];
  /** Set until a request uses the first API key, unless it is in the settings: the key and the file that holds it. */
  readonly firstKey: { readonly key: Secret; readonly file: string } | undefined;
  /** Set while there is no administrator: the setup link and the file that holds it. */
  readonly setUpLink: SetUpLink | undefined;
  /**
   * Makes readiness return 503 and closes each connection after its next response. Requests are still accepted and
   * served.
   */
  drain(): void;
  /** Accepts no more requests, finishes or aborts those in progress, and releases all processes, timers and handles. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  /** Called before a port opens. Requests may arrive before `openService` returns. */
  readonly beforeListening?: () => void;
  readonly watchdog?: Watchdog | undefined;
}

/**
 * Starts the service and connects all its modules.
 * @throws Error when the data folder, the database or a port is not available; everything is closed then
 */
export async function openService(config: Config, logger: Logger, options: ServiceOptions = {}): Promise<Service> {
  const resources = new AsyncDisposableStack();
  try {
    return await open({ config, logger, resources, options });
  } catch (error) {
    await closeAll(resources).catch((closing: unknown) =>
      logger.error({ err: closing }, 'service closed after a failed start'),
    );
    throw error;
  }
}

async function open(start: Omit<Start, 'drain'>): Promise<Service> {
  const { config, logger, resources } = start;
  const drain = createDrain();
  const urls: Record<'files' | 'plugins', readonly string[]> = { files: [], plugins: [] };
  const urlsOf: ServiceContext['urlsOf'] = (address) => urls[address];
  const consoleUrl = () => config.publicFilesUrl ?? urls.files[0] ?? '';
  const { context, firstKey } = await openContext({ ...start, drain }, { consoleUrl, urlsOf });
  const addresses = await openAddresses(context);
  const listenTo = async (address: ListenAddress | null, setting: string): Promise<Listening | null> => {
    if (address === null) return null;
    await address.releasePort?.();
    const listening = await listen(address.app, { host: config.host, port: address.port, setting });
    resources.defer(() => listening.close(config.stopSeconds * 1000));
    return listening;
  };
  if (addresses.files !== null) await createAdministratorOfSettings(context);
  start.options.beforeListening?.();
  const files = await listenTo(addresses.files, 'QUARTERMASTER_FILES_PORT');
  urls.files = files?.urls ?? [];
  const plugins = await listenTo(addresses.plugins, 'QUARTERMASTER_PLUGINS_PORT');
  urls.plugins = plugins?.urls ?? [];
  const setUpLink =
    files === null
      ? undefined
      : await createSetUpLink({
          repository: createAccountRepository(context.database),
          clock: context.clock,
          dataFolder: config.dataFolder,
          consoleUrl: consoleUrl(),
          keepsValid: isOnManyNodes(config),
        });
  if (files !== null) {
    const checks = startBackgroundChecks(config, logger);
    resources.defer(() => checks.close());
  }
  await context.node.publish({
    address: urls.files[0] ?? urls.plugins[0] ?? '',
    capabilities: await describeCapabilities(context),
  });
  logger.info({ files: files?.url, plugins: plugins?.url }, 'service started');
  return {
    filesUrls: files?.urls ?? [],
    pluginsUrls: plugins?.urls ?? [],
    firstKey,
    setUpLink,
    drain: drain.begin,
    close: async () => {
      drain.begin();
      addresses.files?.endStreams();
      addresses.plugins?.endStreams();
      addresses.mcp?.close();
      await closeAll(resources);
    },
  };
}

/** Creates the administrator before a port opens, so that a refused password ends the start. */
async function createAdministratorOfSettings({ config, database, clock, newId, audit }: ServiceContext): Promise<void> {
  const { administratorPassword: password } = config;
  if (password === null) return;
  const repository = createAccountRepository(database);
  await createConfiguredAdministrator({ repository, clock, newId, audit }, { name: 'administrator', password });
}

/** Opens what this process serves. */
async function openAddresses(context: ServiceContext) {
  const { serve } = context.config;
  const secrets = serve === 'files' ? null : await openSecrets(context);
  const encrypter = secrets === null ? await openStoreEncrypter(encryptionSettingsOf(context)) : secrets.encrypter;
  const files = serve === 'plugins' ? null : await openFilesAddress(context, encrypter);
  const plugins = secrets === null ? null : await openPluginsAddress(context, { secrets, files });
  if (files !== null) {
    const checkBundle = plugins?.checkClient ?? (() => {});
    serveBundleClients(context, files.app, { guard: files.managerGuard, encrypter, checkBundle });
  }
  const mcp = plugins?.mcp ?? (files === null ? null : shareKnowledge(context, files.knowledge));
  await mcp?.preload();
  if (files === null || mcp === null) return { files, plugins, mcp: null };
  serveMcpOfFiles(context, files.app, mcp);
  if (plugins !== null) {
    plugins.servePages(files.app);
    mountPlugins(files.app, { guard: files.guard, mounted: context.mounted, plugins: plugins.app });
    await plugins.app.ready();
  }
  return { files, plugins, mcp };
}

interface Start {
  readonly config: Config;
  readonly logger: Logger;
  readonly resources: AsyncDisposableStack;
  readonly drain: Drain;
  readonly options: ServiceOptions;
}

type Urls = Pick<ServiceContext, 'consoleUrl' | 'urlsOf'>;

async function openContext({ config, logger, resources, drain, options: { watchdog } }: Start, urls: Urls) {
  warnAboutRoot(logger);
  const registry = createMetrics();
  if (watchdog !== undefined) registerWatchdogMetrics(registry, watchdog);
  await openDataFolder(config.dataFolder, logger);
  if (config.serve !== 'plugins') resources.defer(lockFolder(config.dataFolder).release);
  const { space, ballast } = await openDiskSpace(config, { logger, registry, resources });
  const { nodes, ...limiting } = openLimits(registry);
  const { database, check } = await openCheckedDatabase(config, { logger, registry, resources, ...limiting });
  const { clock } = database;
  const newId = createNewId(clock);
  const repository = createProjectRepository(database);
  const ofNode = await openStoreNode({ config, database, nodes, logger, registry, resources });
  const audit = createAudit({ repository: createAuditRepository(database), clock, newId, logger });
  const created = await createFirstKey({ repository, audit, clock, newId }, config.dataFolder, config.firstKey);
  const rates = openRates({ database, logger, registry, resources, ...ofNode });
  const rating = { ...rates, changeHooks: noChangeHooks() };
  const onChange = () => loadChanges({ ...rating, logger });
  const keyRing = await openKeyRing({ repository, clock, logger, onChange, ...ofNode });
  resources.defer(() => keyRing.close());
  const requestMetrics = createRequestMetrics(registry);
  const streams = resources.adopt(openStreamAccess({ database, logger }), (access) => access.close());
  const idempotencyRepository = createIdempotencyRepository(database, {
    maxBytes: maxKeptAnswerBytes,
    onExceeded: () => limiting.countExceeded('kept_answers_of_project'),
  });
  const context: ServiceContext = {
    config,
    logger,
    clock,
    newId,
    registry,
    database,
    keyRing,
    audit,
    ...limiting,
    ...rating,
    ...ofNode,
    idempotency: createIdempotency({
      repository: idempotencyRepository,
      nodeId: ofNode.node.id,
      clock,
      logger,
      ...limiting,
      onReplay: rating.rates.putBack,
    }),
    idempotencyRepository,
    resources,
    sandbox: openPluginSandbox({ logger, registry, resources, ...limiting }),
    space,
    ballast,
    mounted: new WeakMap(),
    ...urls,
    newApp: (address) => {
      const url = address === 'files' ? config.publicFilesUrl : config.publicPluginsUrl;
      const { trustedProxies, corsOrigins } = config;
      const access = {
        trustedProxies,
        corsOrigins,
        overHttps: url?.startsWith('https:') === true,
        basePath: basePathOf(url),
      };
      return createApp({ logger, address, requestMetrics, audit, drain, streams, watchdog, ...rating, ...access });
    },
    parts: {
      process: async () => {
        if (drain.isDraining()) throw new Error('it is stopping');
      },
      database: check,
    },
  };
  const firstKey = created ?? (await findUnusedFirstKey({ repository, clock }, config.dataFolder));
  return { context, firstKey: describeFirstKey(firstKey) };
}

/** Loads what changes with the number of the keys. Installed bundles are not awaited, because their archives are read. */
async function loadChanges({ changeHooks, logger, rates }: Pick<ServiceContext, 'changeHooks' | 'logger' | 'rates'>) {
  changeHooks.followRows().catch((err: unknown) => logger.error({ err }, 'installed bundles not followed'));
  await Promise.all([rates.load(), changeHooks.loadSettings()]);
}

function openLimits(registry: Registry) {
  const countExceeded = createLimitCounter(registry);
  const nodes = createNodeCounter();
  const admission = createAdmission({ metrics: registry, nodes: nodes.count });
  return { countExceeded, nodes, admission, shares: createStreamShares({ countExceeded, admission }) };
}

/** The start message omits a key of the settings, because the operator has it. */
function describeFirstKey(firstKey: Pick<FirstKey, 'key' | 'file'> | undefined): Service['firstKey'] {
  return firstKey === undefined || firstKey.file === null ? undefined : { key: firstKey.key, file: firstKey.file };
}
