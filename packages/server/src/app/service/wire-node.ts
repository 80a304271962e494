import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openEncrypter } from '../../access/credential-profiles/encryption-key.ts';
import { createRates } from '../../platform/admission/rates.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { exists } from '../../platform/disk/exists.ts';
import { PartFailure } from '../../platform/http/readiness.ts';
import { claimNode } from '../../platform/nodes/claim-node.ts';
import type { NodeCounter } from '../../platform/nodes/count-nodes.ts';
import { assertFits, joinNodes } from '../../platform/nodes/join-nodes.ts';
import type { NewNode, NodeRepository, NodeSettings } from '../../platform/nodes/node-repository.ts';
import { type OpenedNode, openNode } from '../../platform/nodes/open-node.ts';
import { version } from '../../platform/version.ts';
import { migrationsFor } from '../../storage/database/migrations.ts';
import { openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { folderInstance } from '../../storage/disk/folder-lock.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { countNodes } from '../../storage/repositories/count-nodes.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createNodeRepository } from '../../storage/repositories/node-repository.ts';
import { createRateLimitRepository } from '../../storage/repositories/rate-limit-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import { assertContentInFolder, nameOf } from '../../storage/s3/claim-place.ts';
import { checkSqliteFile } from '../../storage/sqlite/check-sqlite-file.ts';
import { sqliteFile } from '../../storage/sqlite/sqlite-database.ts';
import { createTableVerification, type TableVerification } from '../../storage/sqlite/verify-tables.ts';
import { claimDataFolder, folderIds } from '../../stores/files/store-identity.ts';
import { settingsOfNodes, settingsOfProcesses } from '../settings/node-settings.ts';
import type { ServiceContext } from './context.ts';
import { assertContentUnused } from './open-blobs.ts';

const day = 24 * 3_600_000;
/** The background verification of stored files and, at the same rate, of the tables of SQLite. */
export const verification = { passEvery: 7 * day, bytesPerSecond: 16 * 2 ** 20 } as const;
/** The search indexes in memory of each thread that answers questions: one with PostgreSQL, up to two with SQLite. */
const searchCacheBytes = 80 * 2 ** 20;

interface NodeContext extends Pick<ServiceContext, 'config' | 'database' | 'logger' | 'registry' | 'resources'> {
  readonly nodes: NodeCounter;
}

/**
 * Registers this process as a node of the store until it stops. With content in a data folder, one process serves it. With content in
 * object storage, and for processes that serve only plugins, there may be any number. Source: ADR 0164.
 * @throws OperatorError when another process serves the data folder, or this one does not fit the nodes that run
 */
export async function openStoreNode(
  context: NodeContext,
): Promise<Pick<ServiceContext, 'node' | 'refreshMs' | 'startTasks'>> {
  const { logger, resources } = context;
  const node = await registerNode(context);
  resources.defer(() => node.close());
  startCounting(context);
  return {
    node,
    // A change holds on all nodes within a second.
    refreshMs: isOnManyNodes(context.config) ? 750 : undefined,
    startTasks(tasks) {
      const running = startPeriodicTasks(tasks.map(node.ofLeader), logger);
      resources.defer(() => running.close());
    },
  };
}

async function registerNode(context: NodeContext): Promise<OpenedNode> {
  const { config, database, logger, registry: metrics } = context;
  const { serve } = config;
  const isDatabaseInFolder = database.dialect === 'sqlite';
  const id = randomUUID();
  // The rows of other processes would be in the same folder, and nothing reads them.
  if (isDatabaseInFolder && serve === 'plugins') return unregisteredNode;
  const isShared = isOnManyNodes(config) || (!isDatabaseInFolder && serve === 'plugins');
  const repository = createNodeRepository(database);
  const settings = isDatabaseInFolder ? noSettings : describeSettings(config);
  const node = { id, serves: serve, host: hostname(), version, folderInstance: '', settings };
  const register = () => joinNodes(node, { repository, logger });
  if (isShared) await register();
  else await claimFolder(node, { ...context, repository, isDatabaseInFolder });
  const kind = isShared ? 'shared' : isDatabaseInFolder ? 'alone' : 'folder';
  return await openNode({
    nodeId: id,
    repository,
    kind,
    fence: database.fence,
    rejoin: register,
    logger,
    metrics,
  });
}

/** Whether several processes can serve the files of the store. */
export function isOnManyNodes({ databaseUrl, blobs }: Pick<NodeContext['config'], 'databaseUrl' | 'blobs'>): boolean {
  return databaseUrl !== null && blobs !== null;
}

const unregisteredNode: OpenedNode = {
  id: null,
  publish: async () => {},
  ofLeader: (task) => task,
  close: async () => {},
};

const noSettings: NodeSettings = { encryptionKeys: [], equal: {} };

/** Processes that share no content with others need fewer settings in common. */
function describeSettings(config: NodeContext['config']): NodeSettings {
  const { serve, blobs } = config;
  const encryptionKeys = openEncrypter(config)?.keyIds ?? [];
  const place = serve === 'plugins' ? {} : { QUARTERMASTER_BLOBS: blobs === null ? 'unset' : nameOf(blobs) };
  const ofNodes = blobs !== null && serve !== 'plugins' && settingsOfNodes(config);
  return { encryptionKeys, equal: { ...place, ...settingsOfProcesses(config), ...ofNodes } };
}

/** What the machine and the settings of this process allow, for the operator. @param embedding the provider in use now */
export async function describeCapabilities(
  { config, database, sandbox }: ServiceContext,
  embedding: string = config.embeddingProvider,
) {
  const programs = await Promise.all(config.programFolders.map((folder) => exists(join(folder, 'tesseract'))));
  return {
    schema: Object.keys(migrationsFor(database.dialect)).at(-1),
    ...(config.serve !== 'plugins' && {
      embedding,
      ocr: config.ocr !== 'off' && programs.includes(true),
    }),
    ...(config.serve !== 'files' && { sandbox: (await sandbox()).capabilities.sandbox.available }),
  };
}

interface FolderContext extends Pick<NodeContext, 'config' | 'database' | 'logger'> {
  readonly repository: NodeRepository;
  readonly isDatabaseInFolder: boolean;
}

/** Makes this process the only one that serves the files of the data folder. */
async function claimFolder(described: NewNode, context: FolderContext): Promise<void> {
  const { config, database, logger, repository, isDatabaseInFolder } = context;
  const { dataFolder } = config;
  const store = createStoreRepository(database);
  // A store with object storage has no data folder of its own, so none may be claimed.
  if (config.blobs === null) await assertContentInFolder(store);
  if (!isDatabaseInFolder) await assertFits(described, { repository, logger });
  const folderId = await claimDataFolder(dataFolder, {
    store,
    files: createFileRepository(database),
    // Nothing in the folder can contradict the rows when the content is in object storage.
    blobs: config.blobs === null ? openBlobFolder(dataFolder) : null,
    isDatabaseInFolder,
  });
  const node = { ...described, folderInstance: await folderInstance(dataFolder) };
  await claimNode(node, {
    repository,
    logger,
    isDatabaseInFolder,
    folder: {
      path: dataFolder,
      id: folderId,
      prepareId: (newId) => folderIds.prepare(dataFolder, { claimedId: folderId, newId }),
      finishId: (newId) => folderIds.finish(dataFolder, newId),
    },
  });
}

/** Counts the nodes that share the limits of the store. With SQLite, one process counts for itself. */
function startCounting({ database, nodes, logger, resources }: NodeContext): void {
  if (database.dialect === 'sqlite') return;
  const counting = startPeriodicTasks([nodes.task(() => countNodes(database))], logger);
  resources.defer(() => counting.close());
}

/** The maximum delay of a timer of Node.js. */
const longestPause = 2 ** 31 - 1;
/** Milliseconds after the start, so that services that live for a short time do not start a child process. */
const verificationDelayMs = 10_000;
/** Milliseconds from a check that failed to the next one. */
const retryDelayMs = 3_600_000;

type DatabaseContext = Pick<NodeContext, 'logger' | 'registry' | 'resources'> & Pick<ServiceContext, 'admission'>;

/**
 * Opens the database. The process that serves files checks the file of a SQLite database before, and its tables in the background.
 * @returns the database and its check for `/v1/ready`, which throws a PartFailure while a table is known to be damaged
 * @throws OperatorError when the header, the schema or the list of free pages is damaged
 */
export async function openCheckedDatabase(config: ServiceContext['config'], context: DatabaseContext) {
  const { logger, registry: metrics, admission, resources } = context;
  const { dataFolder, serve, databaseUrl } = config;
  const isChecked = databaseUrl === null && serve !== 'plugins';
  if (isChecked) checkSqliteFile(dataFolder);
  const database = await openDatabase({
    url: databaseUrl?.reveal() ?? null,
    dataFolder,
    beforeCreation: () => assertContentUnused(config),
    logger,
    metrics,
    admission,
    connections: config.databaseConnections,
    durability: config.databaseDurability,
    searchCacheBytes,
  });
  resources.defer(() => database.close());
  const damaged = isChecked ? verifyTables(config, context) : () => [];
  const check = async () => {
    const [first] = damaged();
    if (first === undefined) return database.check();
    const { table, page } = first;
    const place = page === null ? '' : `, page ${page}`;
    throw new PartFailure(`The table ${table} of the database is damaged${place}.`, {
      condition: 'damaged',
      table,
      page,
    });
  };
  return { database, check };
}

/** Verifies the tables of a SQLite database in the background. @returns a function that lists the damaged ones */
function verifyTables(
  { dataFolder }: ServiceContext['config'],
  { logger, registry: metrics, resources }: DatabaseContext,
): TableVerification['damaged'] {
  const { bytesPerSecond, passEvery } = verification;
  const tables = createTableVerification({ file: join(dataFolder, sqliteFile), bytesPerSecond, logger, metrics });
  let delayMs = verificationDelayMs;
  const run = async (signal: AbortSignal) => {
    await wait(delayMs, undefined, { signal });
    delayMs = retryDelayMs;
    await tables.run(signal);
    delayMs = Math.min(longestPause, passEvery);
  };
  const tasks = startPeriodicTasks([{ name: 'verify database tables', pause: 0, run }], logger);
  resources.defer(() => tasks.close());
  return tables.damaged;
}

const ratesPauseMs = 3_600_000;
/** Longer than the longest window. */
const keptRatesMs = 2 * 86_400_000;

type RatesContext = Pick<ServiceContext, 'database' | 'logger' | 'registry' | 'resources' | 'startTasks'>;

/** Opens the rate limits of all projects. */
export function openRates({ database, logger, registry: metrics, resources, startTasks }: RatesContext) {
  const { clock } = database;
  const rateLimits = createRateLimitRepository(database);
  const rates = createRates({ repository: rateLimits, clock, logger, metrics });
  resources.defer(() => rates.close());
  const sweep = { name: 'forget rates', pause: ratesPauseMs, run: () => rateLimits.sweep(clock.now() - keptRatesMs) };
  startTasks([sweep]);
  return { rates, rateLimits };
}
