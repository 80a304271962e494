import { scopes } from '@quartermaster/contract';
import type { Manager, ManagerGuard } from '../platform/http/guard.ts';
import { authenticateKey, createAuthenticatedRequests } from './authentication.ts';
import type { KeyRing } from './projects/key-ring.ts';
import { scopeMissing } from './projects/problems.ts';
import type { SessionCallers } from './session-callers.ts';

/** Creates the guard that accepts administrators and keys of scope `admin`. */
export function createManagerGuard(keyRing: KeyRing, sessions: SessionCallers): ManagerGuard {
  const managers = createAuthenticatedRequests<Manager>();
  return {
    manages: async (request) => {
      if (sessions.isMeant(request)) {
        await sessions.sessionOf(request);
        managers.add(request, { projectId: null, scopes: new Set(scopes), keyId: null });
        return;
      }
      const caller = await authenticateKey(keyRing, request);
      if (!caller.scopes.has('admin')) throw scopeMissing('admin');
      managers.add(request, { projectId: caller.projectId, scopes: caller.scopes, keyId: caller.keyId });
    },
    managerOf: managers.get,
  };
}
