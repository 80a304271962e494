import { projectHeader, projectParameter } from '@quartermaster/contract';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../platform/caller.ts';
import { identify, identifyStanding } from '../platform/log/request-identity.ts';
import { objectNotFound } from '../platform/problem.ts';
import type { Cookies } from './accounts/cookies.ts';
import type { PeopleRepository } from './accounts/people-repository.ts';
import { projectNotChosen } from './accounts/problems.ts';
import { permissionsOf } from './accounts/roles.ts';
import type { OriginCheck } from './accounts/same-origin.ts';
import { type FoundSession, type Sessions, standingIn } from './accounts/sessions.ts';

/** Authenticates requests that have a session cookie instead of a key. */
export interface SessionCallers {
  /** Returns whether the session decides about the request: it has one and no Authorization header. */
  isMeant(request: FastifyRequest): boolean;
  /** @throws Problem SESSION_VALIDATION_FAILED, or PERMISSION_DENIED for a request from another origin */
  sessionOf(request: FastifyRequest): Promise<FoundSession>;
  /**
   * Returns a caller like a key with the permissions of the role in a project.
   * @param projectId absent: the project that the request chooses
   * @throws Problem REQUEST_VALIDATION_ERROR when no project is chosen, OBJECT_NOT_FOUND without a role in it
   */
  callerOf(request: FastifyRequest, found: FoundSession, projectId?: string): Promise<Caller>;
}

export interface SessionCallersDeps {
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly origins: OriginCheck;
  readonly people: Pick<PeopleRepository, 'findRole'>;
}

export function createSessionCallers(deps: SessionCallersDeps): SessionCallers {
  const { sessions, cookies, origins, people } = deps;
  async function sessionOf(request: FastifyRequest): Promise<FoundSession> {
    origins.check({ method: request.method, headers: request.headers });
    const found = await sessions.use(cookies.readTokens(request.headers));
    identify(request, { account: found.account.id });
    return found;
  }
  return {
    isMeant: ({ headers }) => headers.authorization === undefined && cookies.readSession(headers.cookie) !== undefined,
    sessionOf,
    callerOf: async (request, { session, account }, projectId = chosenProject(request)) => {
      if (projectId === undefined) throw projectNotChosen(projectHeader);
      const role = await people.findRole(account.id, projectId);
      if (role === undefined) throw objectNotFound('project', projectId);
      identify(request, { project: projectId, account: account.id });
      const { isAdministrator } = account;
      identifyStanding(request, standingIn(session.hash, { isAdministrator, projectId, role }));
      return { projectId, keyId: account.id, permissions: permissionsOf[role] };
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
