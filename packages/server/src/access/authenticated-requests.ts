import type { FastifyRequest } from 'fastify';

/** The callers that a guard has authenticated, by request. */
export interface AuthenticatedRequests<T> {
  add(request: FastifyRequest, who: T): void;
  /** Returns undefined when the guard lets requests pass without authentication. */
  find(request: FastifyRequest): T | undefined;
  /** @throws Error on a route without the guard, which is a defect */
  get(request: FastifyRequest): T;
}

export function createAuthenticatedRequests<T extends object>(): AuthenticatedRequests<T> {
  // A WeakMap is used instead of a decorated request, because the type then says that only authenticated requests have
  // a caller.
  const callers = new WeakMap<FastifyRequest, T>();
  return {
    add: (request, who) => void callers.set(request, who),
    find: (request) => callers.get(request),
    get: (request) => {
      const who = callers.get(request);
      if (who === undefined) throw new Error(`no guard on ${request.method} ${request.routeOptions.url}`);
      return who;
    },
  };
}
