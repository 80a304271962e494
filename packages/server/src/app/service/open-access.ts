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
import { startLoggedTask } from '../../platform/concurrency/periodic-task.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { createStreamAccess, type StreamAccess } from '../../platform/http/stream-access.ts';
import { clientAddress } from '../../platform/log/request-identity.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createOauthRepository } from '../../storage/repositories/oauth-repository.ts';
import { createPeopleRepository } from '../../storage/repositories/people-repository.ts';
import { createProjectDeletionRepository } from '../../storage/repositories/project-deletions.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import type { ServiceContext } from './context.ts';

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
  { audit, clock, logger, registry: metrics, resources, database, node }: ServiceContext,
  eraseBlob: EraseOptions['eraseBlob'],
): Pick<ProjectRoutesDeps, 'deletions' | 'onDeleting'> {
  const deletions = createProjectDeletionRepository(database);
  const task = createDeletionTask({ repository: deletions, eraseBlob, audit, clock, logger, metrics });
  const running = startLoggedTask(node.ofLeader(task), logger);
  resources.defer(() => running.close());
  return { deletions, onDeleting: running.trigger };
}

/** Creates the guard of the files address and the dependencies of the routes for administrators and projects. */
export function openAccess(context: ServiceContext, eraseBlob: EraseOptions['eraseBlob']): Access {
  const { audit, config, clock, newId, startTasks, database, keyRing, countExceeded, admission } = context;
  const repository = createAccountRepository(database);
  const projectRepository = createProjectRepository(database);
  const sweep = { name: 'forget sessions', pause: sweepPauseMs, run: () => sweepNow() };
  const sweepNow = () => repository.sweep(timesAt(clock.now()), clock.now() - windowMs);
  startTasks([sweep]);

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
