import type { FastifyRequest } from 'fastify';
import type { Caller } from '../platform/caller.ts';
import type { Managed, Manager, ManagerGuard } from '../platform/http/guard.ts';
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
  const seen = createAuthenticatedRequests<Managed & { readonly ids: ReadonlySet<string> | null }>();

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
  async function seenBy(request: FastifyRequest) {
    if (!sessions.isMeant(request)) {
      const { projectId, permissions } = await managerOf(request);
      const ids = new Set([projectId ?? '']);
      return { ids, projects: ids, accountId: null, permissions };
    }
    const { account } = await sessions.sessionOf(request);
    const person = { accountId: account.id, permissions: everyPermission };
    if (account.isAdministrator) return { ids: null, projects: null, ...person };
    const roles = await people.listRoles(account.id);
    const idsOf = (some: typeof roles) => new Set(some.map(({ projectId }) => projectId));
    return { ids: idsOf(roles), projects: idsOf(roles.filter(({ role }) => role === 'administrator')), ...person };
  }
  return {
    hasKey: async (request) => keys.add(request, await authenticateKey(keyRing, request)),
    keyOf: keys.get,
    manages: async (request) => managers.add(request, await managerOf(request)),
    managerOf: managers.get,
    sees: async (request) => seen.add(request, await seenBy(request)),
    projectsOf: (request) => seen.get(request).ids,
    managedOf: seen.get,
  };
}

function projectOfPath({ params }: FastifyRequest): string | undefined {
  const id: unknown = Reflect.get(Object(params), 'project_id');
  return typeof id === 'string' ? id : undefined;
}
