import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '../kernel/caller.ts';
import type { KeyRing } from '../projects/key-ring.ts';
import { scopeMissing } from '../projects/problems.ts';
import type { Gate } from './gate.ts';

/** The gate of the files address: always a key. */
export function createGate(keyRing: KeyRing): Gate {
  // A WeakMap instead of a decorated request: the type says that only authenticated requests have a caller.
  const callers = new WeakMap<FastifyRequest, Caller>();
  return {
    requires: (scope) => async (request) => {
      const caller = await keyRing.authenticate(request.headers.authorization);
      if (!caller.scopes.has(scope)) throw scopeMissing(scope);
      callers.set(request, caller);
    },
    callerOf: (request) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error(`no gate on ${request.method} ${request.routeOptions.url}`);
      return caller;
    },
  };
}

/** The gate of the plugins address: a key where it is asked for; one that is sent is always checked. */
export interface PluginsGate {
  readonly check: onRequestHookHandler;
  /** The project of the key, null without one. */
  projectOf(request: FastifyRequest): string | null;
}

export function createPluginsGate(keyRing: KeyRing, keyRequired: boolean): PluginsGate {
  const projects = new WeakMap<FastifyRequest, string>();

  async function authenticate(request: FastifyRequest): Promise<void> {
    const caller = await keyRing.authenticate(request.headers.authorization);
    if (!caller.scopes.has('plugins')) throw scopeMissing('plugins');
    projects.set(request, caller.projectId);
  }
  return {
    check: (request, _reply, done) => {
      if (request.headers.authorization === undefined && !keyRequired) done();
      else authenticate(request).then(() => done(), done);
    },
    projectOf: (request) => projects.get(request) ?? null,
  };
}
