import type { FastifyRequest } from 'fastify';

/** Whom a guard has let in, by request. */
export interface AuthenticatedRequests<T> {
  add(request: FastifyRequest, who: T): void;
  /** Undefined where the guard lets requests pass without asking who it is. */
  find(request: FastifyRequest): T | undefined;
  /** @throws Error on a route that forgot its guard: a mistake of ours. */
  get(request: FastifyRequest): T;
}

export function createAuthenticatedRequests<T extends object>(): AuthenticatedRequests<T> {
  // A WeakMap instead of a decorated request: the type says that only authenticated requests have a caller.
  const admitted = new WeakMap<FastifyRequest, T>();
  return {
    add: (request, who) => void admitted.set(request, who),
    find: (request) => admitted.get(request),
    get: (request) => {
      const who = admitted.get(request);
      if (who === undefined) throw new Error(`no guard on ${request.method} ${request.routeOptions.url}`);
      return who;
    },
  };
}
