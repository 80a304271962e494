import type { FastifyRequest } from 'fastify';
import type { Caller } from '../platform/caller.ts';
import type { Manager, ManagerGuard } from '../platform/http/guard.ts';
import { everyPermission } from '../platform/permissions.ts';
import type { PeopleRepository } from './accounts/people-repository.ts';
import { authenticateKey, createAuthenticatedRequests } from './authentication.ts';
import type { KeyRing } from './projects/key-ring.ts';
import { scopeMissing } from './projects/problems.ts';
import type { SessionCallers } from './session-callers.ts';

/** Creates the guard that accepts administrators, of the service or of a project, and keys of scope `admin`. */
export function createManagerGuard(
  keyRing: KeyRing,
  sessions: SessionCallers,
  people: Pick<PeopleRepository, 'listRoles'>,
): ManagerGuard {
  const managers = createAuthenticatedRequests<Manager>();
  const keys = createAuthenticatedRequests<Caller>();
  const projects = createAuthenticatedRequests<{ readonly ids: ReadonlySet<string> | null }>();

  async function managerOf(request: FastifyRequest): Promise<Manager> {
    if (!sessions.isMeant(request)) {
      const caller = await authenticateKey(keyRing, request);
      if (!caller.permissions.has('admin')) throw scopeMissing('admin');
      return caller;
    }
    const found = await sessions.sessionOf(request);
    if (found.account.isAdministrator) return { projectId: null, permissions: everyPermission, keyId: null };
    const { projectId, permissions } = await sessions.callerOf(request, found, projectOfPath(request));
    if (!permissions.has('admin')) throw scopeMissing('admin');
    return { projectId, permissions, keyId: null };
  }
  async function projectsOf(request: FastifyRequest): Promise<ReadonlySet<string> | null> {
    if (!sessions.isMeant(request)) return new Set([(await managerOf(request)).projectId ?? '']);
    const { account } = await sessions.sessionOf(request);
    if (account.isAdministrator) return null;
    return new Set((await people.listRoles(account.id)).map(({ projectId }) => projectId));
  }
  return {
    hasKey: async (request) => keys.add(request, await authenticateKey(keyRing, request)),
    keyOf: keys.get,
    manages: async (request) => managers.add(request, await managerOf(request)),
    managerOf: managers.get,
    sees: async (request) => projects.add(request, { ids: await projectsOf(request) }),
    projectsOf: (request) => projects.get(request).ids,
  };
}

function projectOfPath({ params }: FastifyRequest): string | undefined {
  const id: unknown = Reflect.get(Object(params), 'project_id');
  return typeof id === 'string' ? id : undefined;
}
