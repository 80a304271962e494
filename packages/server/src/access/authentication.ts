import type { IncomingMessage } from 'node:http';
import type { Scope } from '@quartermaster/contract';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '../platform/caller.ts';
import type { Guard } from '../platform/http/guard.ts';
import { identify } from '../platform/log/request-identity.ts';
import { checkCollection, type Permissions, permissionsWithoutKey } from '../platform/permissions.ts';
import type { AccessTokens } from './oauth/access-tokens.ts';
import type { KeyRing } from './projects/key-ring.ts';
import { scopeMissing } from './projects/problems.ts';
import type { SessionCallers } from './session-callers.ts';

/**
 * Creates the guard of the files address. It always requires a key, or a session that chooses a project.
 */
export function createGuard(keyRing: KeyRing, sessions: SessionCallers): Guard {
  const callers = createAuthenticatedRequests<Caller>();
  return {
    requires: (scope) => async (request) => {
      const caller = sessions.isMeant(request)
        ? await sessions.callerOf(request, await sessions.sessionOf(request))
        : await authenticateKey(keyRing, request);
      if (!caller.permissions.has(scope)) throw scopeMissing(scope);
      checkPath(request, caller.permissions);
      callers.add(request, caller);
    },
    callerOf: callers.get,
  };
}

/** @throws Problem when the path names a collection that the caller does not see */
function checkPath({ params }: FastifyRequest, permissions: Permissions): void {
  const id: unknown = Reflect.get(Object(params), 'collection_id');
  if (typeof id === 'string') checkCollection(permissions, id);
}

/** Authenticates the key of a request. The log contains the key's id, also when the request is refused later. */
export async function authenticateKey(keyRing: KeyRing, request: FastifyRequest): Promise<Caller> {
  const caller = await keyRing.authenticate(request.headers.authorization);
  identify(request, { project: caller.projectId, key: caller.keyId });
  return caller;
}

/** The guard of the plugins address. It requires a key only when configured, but always checks a key that was sent. */
export interface PluginsGuard extends Guard {
  readonly check: onRequestHookHandler;
  /** Works like `check`, for a key of scope `plugins:read`. Routes that run a plugin check its effects. */
  readonly checkRead: onRequestHookHandler;
  /** Works like `check`, for a key of scope `metrics` or `plugins`. */
  readonly checkMetrics: onRequestHookHandler;
  /** Works like `check`, for a key of scope `plugins:read` or `collections:read`. */
  readonly checkEither: onRequestHookHandler;
  /** Returns the caller whose key was sent, or undefined without a key. */
  findCaller(request: FastifyRequest): Caller | undefined;
  /** Returns what the caller may do, also one without a key. */
  permissionsOf(request: FastifyRequest): Permissions;
  /** Returns the project of the key, or null without a key. */
  projectOf(request: FastifyRequest): string | null;
  /** Returns the id of the key, or null without a key. */
  keyOf(request: FastifyRequest): string | null;
}

export interface PluginsGuardDeps {
  readonly keyRing: KeyRing;
  /** Authenticates applications. Their tokens are valid for MCP servers only. */
  readonly tokens: AccessTokens;
  readonly keyRequired: boolean;
  /** The callers of requests that arrived at the files address, which has authenticated them. */
  readonly mounted: WeakMap<IncomingMessage, Caller>;
}

export function createPluginsGuard({ keyRing, tokens, keyRequired, mounted }: PluginsGuardDeps): PluginsGuard {
  const callers = createAuthenticatedRequests<Caller>();

  const authenticateSender = (request: FastifyRequest) =>
    tokens.isMeant(request) ? tokens.callerOf(request) : authenticateKey(keyRing, request);

  /**
   * @param scope the required scope of the key
   * @param other a scope that is accepted instead
   */
  async function authenticate(request: FastifyRequest, scope: Scope, other = scope): Promise<void> {
    const caller = mounted.get(request.raw) ?? (await authenticateSender(request));
    const { permissions } = caller;
    if (!permissions.has(scope) && !permissions.has(other)) throw scopeMissing(scope);
    checkPath(request, permissions);
    callers.add(request, caller);
  }
  const checkFor =
    (scope: Scope, other = scope): onRequestHookHandler =>
    (request, _reply, done) => {
      const isOpen = request.headers.authorization === undefined && !keyRequired && !mounted.has(request.raw);
      if (isOpen) done();
      else authenticate(request, scope, other).then(() => done(), done);
    };
  return {
    check: checkFor('plugins'),
    checkRead: checkFor('plugins:read'),
    checkMetrics: checkFor('metrics', 'plugins'),
    checkEither: checkFor('plugins:read', 'collections:read'),
    requires: (scope) => (request) => authenticate(request, scope),
    callerOf: callers.get,
    findCaller: callers.find,
    permissionsOf: (request) => callers.find(request)?.permissions ?? permissionsWithoutKey,
    projectOf: (request) => callers.find(request)?.projectId ?? null,
    keyOf: (request) => callers.find(request)?.keyId ?? null,
  };
}

/** The callers that a guard has authenticated, by request. */
interface AuthenticatedRequests<T> {
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
