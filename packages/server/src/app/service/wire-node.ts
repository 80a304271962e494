import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createAccounts } from '../../access/accounts/accounts.ts';
import { createCookies } from '../../access/accounts/cookies.ts';
import type { AccountRoutesDeps } from '../../access/accounts/routes.ts';
import { createOriginCheck } from '../../access/accounts/same-origin.ts';
import { createSessions, timesAt } from '../../access/accounts/sessions.ts';
import { windowMs } from '../../access/accounts/sign-in-throttle.ts';
import { createGuard } from '../../access/authentication.ts';
import { createManagerGuard } from '../../access/manager-guard.ts';
import { createDeletionTask, type EraseOptions } from '../../access/projects/project-deletions.ts';
import { createProjects } from '../../access/projects/projects.ts';
import type { ProjectRoutesDeps } from '../../access/projects/routes.ts';
import { createSessionCallers, type SessionCallers } from '../../access/session-callers.ts';
import { startPeriodicTask, startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { PartFailure } from '../../platform/http/readiness.ts';
import { createStreamAccess, type StreamAccess } from '../../platform/http/stream-access.ts';
import { clientAddress } from '../../platform/log/request-identity.ts';
import { claimNode } from '../../platform/nodes/claim-node.ts';
import { leaseMs, openNode } from '../../platform/nodes/open-node.ts';
import { version } from '../../platform/version.ts';
import { openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { folderInstance } from '../../storage/disk/folder-lock.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createNodeRepository } from '../../storage/repositories/blob-repository.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createOauthRepository } from '../../storage/repositories/oauth-repository.ts';
import { createPeopleRepository } from '../../storage/repositories/people-repository.ts';
import { createProjectDeletionRepository } from '../../storage/repositories/project-deletions.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import { checkSqliteFile } from '../../storage/sqlite/check-sqlite-file.ts';
import { sqliteFile } from '../../storage/sqlite/sqlite-database.ts';
import { createTableVerification, type TableVerification } from '../../storage/sqlite/verify-tables.ts';
import { claimDataFolder, folderIds } from '../../stores/files/store-identity.ts';
import type { ServiceContext } from './context.ts';

const day = 24 * 3_600_000;
/** The background verification of stored files and, at the same rate, of the tables of SQLite. */
export const verification = { passEvery: 7 * day, bytesPerSecond: 16 * 2 ** 20 } as const;
/** The search indexes in memory of each thread that answers questions: one with PostgreSQL, up to two with SQLite. */
const searchCacheBytes = 80 * 2 ** 20;

type NodeContext = Pick<ServiceContext, 'config' | 'database' | 'logger' | 'registry' | 'resources'>;

/**
 * Makes this process the only one that serves the files of the store, until it stops. A process that serves only plugins
 * is not registered, because many may run at once.
 */
export async function openFilesNode({ config, database, logger, registry, resources }: NodeContext): Promise<void> {
  const { serve, dataFolder } = config;
  if (serve === 'plugins') return;
  const isDatabaseInFolder = database.dialect === 'sqlite';
  const folderId = await claimDataFolder(dataFolder, {
    store: createStoreRepository(database),
    files: createFileRepository(database),
    // Nothing in the folder can contradict the rows when the content is in object storage.
    blobs: config.blobs === null ? openBlobFolder(dataFolder) : null,
    isDatabaseInFolder,
  });
  const repository = createNodeRepository(database);
  const nodeId = randomUUID();
  await claimNode(
    { id: nodeId, serves: serve, host: hostname(), version, folderInstance: await folderInstance(dataFolder) },
    {
      repository,
      logger,
      isDatabaseInFolder,
      leaseMs,
      folder: {
        path: dataFolder,
        id: folderId,
        prepareId: (newId) => folderIds.prepare(dataFolder, { claimedId: folderId, newId }),
        finishId: (newId) => folderIds.finish(dataFolder, newId),
      },
    },
  );
  const node = await openNode({ nodeId, repository, fence: database.fence, logger, metrics: registry });
  resources.defer(() => node.close());
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

/** Authentication at the files address, and the management of administrators, projects and keys. */
export interface Access extends AccountRoutesDeps {
  readonly guard: Guard;
  readonly callers: SessionCallers;
  readonly projectRoutes: ProjectRoutesDeps;
}

/** Ends event streams of both addresses when their key or session ends. */
export function openStreamAccess({ database, logger }: Pick<ServiceContext, 'database' | 'logger'>): StreamAccess {
  const { clock } = database;
  const projects = createProjectRepository(database);
  const repository = createAccountRepository(database);
  const grants = createOauthRepository(database);
  return createStreamAccess({
    findUsable: async (owners) => {
      const ids = owners.map((owner) => owner.split(' ', 1)[0] ?? '');
      return new Set([
        ...(await projects.findUsable(ids, clock.now())),
        ...(await grants.findUsableGrants(ids, clock.now())),
        ...(await repository.findUsableSessions(ids, timesAt(clock.now()))),
      ]);
    },
    logger,
  });
}

const sweepPauseMs = 3_600_000;

/** Deletes projects in the background. @returns the deletions, and a function that starts the work on those that have begun */
function openDeletions(
  { audit, clock, logger, registry: metrics, resources, database }: ServiceContext,
  eraseBlob: EraseOptions['eraseBlob'],
): Pick<ProjectRoutesDeps, 'deletions' | 'onDeleting'> {
  const deletions = createProjectDeletionRepository(database);
  const task = createDeletionTask({ repository: deletions, eraseBlob, audit, clock, logger, metrics });
  const running = startPeriodicTask(task, (error) => logger.error({ err: error }, 'project deletions not found'));
  resources.defer(() => running.close());
  return { deletions, onDeleting: running.trigger };
}

/** Creates the guard of the files address and the dependencies of the routes for administrators and projects. */
export function openAccess(context: ServiceContext, eraseBlob: EraseOptions['eraseBlob']): Access {
  const { audit, config, clock, newId, logger, resources, database, keyRing, countExceeded, admission } = context;
  const repository = createAccountRepository(database);
  const projectRepository = createProjectRepository(database);
  const sweep = { name: 'forget sessions', pause: sweepPauseMs, run: () => sweepNow() };
  const sweepNow = () => repository.sweep(timesAt(clock.now()), clock.now() - windowMs);
  const tasks = startPeriodicTasks([sweep], logger);
  resources.defer(() => tasks.close());

  const sessions = createSessions({ repository, clock, newId });
  const { publicFilesUrl } = config;
  const basePath = basePathOf(publicFilesUrl);
  const cookies = createCookies(publicFilesUrl?.startsWith('https:') === true, basePath);
  const origins = createOriginCheck(publicFilesUrl === null ? null : new URL(publicFilesUrl).origin);
  const people = createPeopleRepository(database);
  const callers = createSessionCallers({ sessions, cookies, origins, people });
  return {
    accounts: createAccounts({
      repository,
      sessions,
      clock,
      newId,
      audit,
      countExceeded,
      admission,
    }),
    sessions,
    cookies,
    origins,
    ownsOrigin: basePath === '',
    addressOf: clientAddress,
    guard: createGuard(keyRing, callers),
    callers,
    people,
    projectRoutes: {
      projects: createProjects({ repository: projectRepository, audit, clock, newId, countExceeded }),
      ...openDeletions(context, eraseBlob),
      keyRing,
      guard: createManagerGuard(keyRing, callers, people),
      clock,
      newId,
      rates: context.rates,
      rateLimits: context.rateLimits,
    },
  };
}
