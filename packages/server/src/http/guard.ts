import type { Scope } from '@quartermaster/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/caller.ts';

/**
 * What a room's `routes.ts` needs of authentication. `requires` is an `onRequest` hook: it runs before a byte of the
 * body is read, throws APIKEY_VALIDATION_FAILED or PERMISSION_DENIED, and makes `callerOf` answer afterwards.
 */
export interface Guard {
  requires(scope: Scope): (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  callerOf(request: FastifyRequest): Caller;
}

/** Who manages projects and keys: an administrator, or a key of scope `admin` in its own project. */
export interface Manager {
  /** null: every project. */
  readonly projectId: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** The key that manages; null: an administrator. */
  readonly keyId: string | null;
}

/** What `access/projects/routes.ts` needs: `manages` is an `onRequest` hook as those of {@link Guard}. */
export interface ManagerGuard {
  readonly manages: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  managerOf(request: FastifyRequest): Manager;
}
