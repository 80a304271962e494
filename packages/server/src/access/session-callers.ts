import { projectHeader, projectParameter } from '@quartermaster/contract';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../platform/caller.ts';
import { identify, identifySession } from '../platform/log/request-identity.ts';
import { everyPermission } from '../platform/permissions.ts';
import { objectNotFound } from '../platform/problem.ts';
import type { Cookies } from './accounts/cookies.ts';
import { projectNotChosen } from './accounts/problems.ts';
import type { OriginCheck } from './accounts/same-origin.ts';
import type { FoundSession, Sessions } from './accounts/sessions.ts';

/** Authenticates requests that have a session cookie instead of a key. */
export interface SessionCallers {
  /** Returns whether the session decides about the request: it has one and no Authorization header. */
  isMeant(request: FastifyRequest): boolean;
  /** @throws Problem SESSION_VALIDATION_FAILED, or PERMISSION_DENIED for a request from another origin */
  sessionOf(request: FastifyRequest): Promise<FoundSession>;
  /**
   * Returns a caller like a key of the chosen project with every permission.
   * @throws Problem REQUEST_VALIDATION_ERROR when no project is chosen
   */
  callerOf(request: FastifyRequest): Promise<Caller>;
}

export interface SessionCallersDeps {
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly origins: OriginCheck;
  readonly hasProject: (projectId: string) => Promise<boolean>;
}

export function createSessionCallers(deps: SessionCallersDeps): SessionCallers {
  const { sessions, cookies, origins } = deps;
  async function sessionOf(request: FastifyRequest): Promise<FoundSession> {
    origins.check({ method: request.method, headers: request.headers });
    const found = await sessions.use(cookies.readTokens(request.headers));
    identify(request, { account: found.account.id });
    identifySession(request, found.session.hash);
    return found;
  }
  return {
    isMeant: ({ headers }) => headers.authorization === undefined && cookies.readSession(headers.cookie) !== undefined,
    sessionOf,
    callerOf: async (request) => {
      const { account } = await sessionOf(request);
      const projectId = chosenProject(request);
      if (projectId === undefined) throw projectNotChosen(projectHeader);
      if (!(await deps.hasProject(projectId))) throw objectNotFound('project', projectId);
      identify(request, { project: projectId, account: account.id });
      return { projectId, keyId: account.id, permissions: everyPermission };
    },
  };
}

/** Reads may name the project in the query instead of the header. */
function chosenProject(request: FastifyRequest): string | undefined {
  const header = request.headers[projectHeader];
  if (typeof header === 'string') return header;
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const value = (request.query as Readonly<Record<string, unknown>>)[projectParameter]; // parsed by Fastify
  return typeof value === 'string' ? value : undefined;
}
