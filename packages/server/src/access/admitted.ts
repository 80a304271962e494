import type { FastifyRequest } from 'fastify';

/** Whom a gate has let in, by request. */
export interface Admitted<T> {
  add(request: FastifyRequest, who: T): void;
  /** Undefined where the gate lets requests pass without asking who it is. */
  find(request: FastifyRequest): T | undefined;
  /** @throws Error on a route that forgot its gate: a mistake of ours. */
  get(request: FastifyRequest): T;
}

export function createAdmitted<T extends object>(): Admitted<T> {
  // A WeakMap instead of a decorated request: the type says that only authenticated requests have a caller.
  const admitted = new WeakMap<FastifyRequest, T>();
  return {
    add: (request, who) => void admitted.set(request, who),
    find: (request) => admitted.get(request),
    get: (request) => {
      const who = admitted.get(request);
      if (who === undefined) throw new Error(`no gate on ${request.method} ${request.routeOptions.url}`);
      return who;
    },
  };
}
