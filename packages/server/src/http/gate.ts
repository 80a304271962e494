import type { Scope } from '@quartermaster/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/caller.ts';

/**
 * What a room's `routes.ts` needs of authentication. `requires` is an `onRequest` hook: it runs before a byte of the
 * body is read, throws APIKEY_VALIDATION_FAILED or PERMISSION_DENIED, and makes `callerOf` answer afterwards.
 */
export interface Gate {
  requires(scope: Scope): (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  callerOf(request: FastifyRequest): Caller;
}
