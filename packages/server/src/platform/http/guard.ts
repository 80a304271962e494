import type { Scope } from '@quartermaster/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.ts';
import type { Permissions } from '../permissions.ts';

/**
 * Authentication for the `routes.ts` of a module. `requires` returns an `onRequest` hook, which runs before a byte of
 * the body is read. It throws APIKEY_VALIDATION_FAILED or PERMISSION_DENIED, and OBJECT_NOT_FOUND when the path names a
 * collection (`:collection_id`) that the caller does not see. After it, `callerOf` returns the caller.
 */
export interface Guard {
  requires(scope: Scope): (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  callerOf(request: FastifyRequest): Caller;
}

/** The manager of projects and keys: an administrator of the service or of a project, or a key of scope `admin` in its project. */
export interface Manager {
  /** Null for every project. */
  readonly projectId: string | null;
  readonly permissions: Permissions;
  /** The id of the managing key; null for a person. */
  readonly keyId: string | null;
}

/** What a sender manages in several projects. */
export interface Managed extends Pick<Manager, 'permissions'> {
  /** Null for every project. */
  readonly projects: ReadonlySet<string> | null;
  /** The account of a person, which also manages what is its own; null for a key. */
  readonly accountId: string | null;
}

/** Authentication for `access/projects/routes.ts`. `manages` is an `onRequest` hook like those of {@link Guard}. */
export interface ManagerGuard {
  /** Requires a key of any scope. Sessions have none. */
  readonly hasKey: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  keyOf(request: FastifyRequest): Caller;
  readonly manages: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  managerOf(request: FastifyRequest): Manager;
  /** Requires a session of any role, or a key of scope `admin`. */
  readonly sees: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Returns the projects that exist for the sender; null for all. */
  projectsOf(request: FastifyRequest): ReadonlySet<string> | null;
  /** Returns what the sender of a request to such a route manages. */
  managedOf(request: FastifyRequest): Managed;
}
