import { createAdministrators } from '../../access/administrator/administrators.ts';
import { createCookies } from '../../access/administrator/cookies.ts';
import type { AdministratorRoutesDeps } from '../../access/administrator/routes.ts';
import { createOriginCheck } from '../../access/administrator/same-origin.ts';
import { createSessions, timesAt } from '../../access/administrator/sessions.ts';
import { windowMs } from '../../access/administrator/sign-in-throttle.ts';
import { createGuard } from '../../access/authentication.ts';
import { createManagerGuard } from '../../access/manager-guard.ts';
import { createProjects } from '../../access/projects/projects.ts';
import type { ProjectRoutesDeps } from '../../access/projects/routes.ts';
import { createSessionCallers } from '../../access/session-callers.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { createStreamAccess, type StreamAccess } from '../../platform/http/stream-access.ts';
import { clientAddress } from '../../platform/log/request-identity.ts';
import { createAdministratorRepository } from '../../storage/repositories/administrator-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import type { ServiceContext } from './context.ts';

/** Authentication at the files address, and the management of administrators, projects and keys. */
export interface Access extends AdministratorRoutesDeps {
  readonly guard: Guard;
  readonly projectRoutes: ProjectRoutesDeps;
}

/** Ends event streams of both addresses when their key or session ends. */
export function openStreamAccess({ database, logger }: Pick<ServiceContext, 'database' | 'logger'>): StreamAccess {
  const { clock } = database;
  const projects = createProjectRepository(database);
  const repository = createAdministratorRepository(database);
  return createStreamAccess({
    findUsable: async ({ keys, sessions }) =>
      new Set([
        ...(await projects.findUsable(keys, clock.now())),
        ...(await repository.findUsableSessions(sessions, timesAt(clock.now()))),
      ]),
    logger,
  });
}

const sweepPauseMs = 3_600_000;

/** Creates the guard of the files address and the dependencies of the routes for administrators and projects. */
export function openAccess({
  config,
  clock,
  newId,
  logger,
  resources,
  database,
  keyRing,
  countExceeded,
  admission,
}: ServiceContext): Access {
  const repository = createAdministratorRepository(database);
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
  const hasProject = async (projectId: string) => (await projectRepository.findProject(projectId)) !== undefined;
  const callers = createSessionCallers({ sessions, cookies, origins, hasProject });
  return {
    administrators: createAdministrators({
      ...{ repository, sessions, clock, newId, logger },
      ...{ countExceeded, admission },
    }),
    sessions,
    cookies,
    origins,
    ownsOrigin: basePath === '',
    addressOf: clientAddress,
    guard: createGuard(keyRing, callers),
    projectRoutes: {
      projects: createProjects({ repository: projectRepository, clock, newId, countExceeded }),
      keyRing,
      guard: createManagerGuard(keyRing, callers),
      clock,
    },
  };
}
