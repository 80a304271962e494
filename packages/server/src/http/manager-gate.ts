import { scopes } from '@quartermaster/contract';
import type { FastifyRequest } from 'fastify';
import type { KeyRing } from '../projects/key-ring.ts';
import { scopeMissing } from '../projects/problems.ts';
import type { Manager, ManagerGate } from './gate.ts';
import type { SessionCallers } from './session-callers.ts';

/** Lets administrators in, and keys of scope `admin`. */
export function createManagerGate(keyRing: KeyRing, sessions: SessionCallers): ManagerGate {
  const managers = new WeakMap<FastifyRequest, Manager>();
  return {
    manages: async (request) => {
      if (sessions.isMeant(request)) {
        await sessions.sessionOf(request);
        managers.set(request, { projectId: null, scopes: new Set(scopes) });
        return;
      }
      const caller = await keyRing.authenticate(request.headers.authorization);
      if (!caller.scopes.has('admin')) throw scopeMissing('admin');
      managers.set(request, { projectId: caller.projectId, scopes: caller.scopes });
    },
    managerOf: (request) => {
      const manager = managers.get(request);
      if (manager === undefined) throw new Error(`no gate on ${request.method} ${request.routeOptions.url}`);
      return manager;
    },
  };
}
