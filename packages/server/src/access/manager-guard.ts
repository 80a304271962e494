import type { Caller } from '../platform/caller.ts';
import type { Manager, ManagerGuard } from '../platform/http/guard.ts';
import { everyPermission } from '../platform/permissions.ts';
import { authenticateKey, createAuthenticatedRequests } from './authentication.ts';
import type { KeyRing } from './projects/key-ring.ts';
import { scopeMissing } from './projects/problems.ts';
import type { SessionCallers } from './session-callers.ts';

/** Creates the guard that accepts administrators and keys of scope `admin`. */
export function createManagerGuard(keyRing: KeyRing, sessions: SessionCallers): ManagerGuard {
  const managers = createAuthenticatedRequests<Manager>();
  const keys = createAuthenticatedRequests<Caller>();
  return {
    hasKey: async (request) => keys.add(request, await authenticateKey(keyRing, request)),
    keyOf: keys.get,
    manages: async (request) => {
      if (sessions.isMeant(request)) {
        await sessions.sessionOf(request);
        managers.add(request, { projectId: null, permissions: everyPermission, keyId: null });
        return;
      }
      const caller = await authenticateKey(keyRing, request);
      if (!caller.permissions.has('admin')) throw scopeMissing('admin');
      managers.add(request, caller);
    },
    managerOf: managers.get,
  };
}
