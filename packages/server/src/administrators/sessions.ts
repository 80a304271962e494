import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { Secret } from '../kernel/secret.ts';
import type { Administrator, AdministratorRepository, StoredSession } from './administrator-repository.ts';
import { sessionRejected } from './problems.ts';

const minute = 60_000;
export const idleMs = 30 * minute;
export const absoluteMs = 12 * 60 * minute;
/** The last use is written at most this often. */
const noteEveryMs = minute;

/** A session just begun: the only time its token exists here. */
export interface NewSession {
  readonly token: Secret;
  readonly session: StoredSession;
  readonly administrator: Administrator;
}

export interface FoundSession {
  readonly session: StoredSession;
  readonly administrator: Administrator;
}

/** Sessions of the console: 256 random bits, kept as a hash; 30 minutes without use, 12 hours with. */
export interface Sessions {
  begin(administrator: Administrator): Promise<NewSession>;
  /** Notes the use. @throws Problem SESSION_VALIDATION_FAILED, the same for every session that cannot be used. */
  use(token: string | undefined): Promise<FoundSession>;
  end(session: StoredSession): Promise<void>;
  endAll(administratorId: string): Promise<void>;
}

export function createSessions(deps: { repository: AdministratorRepository; clock: Clock }): Sessions {
  const { repository, clock } = deps;
  return {
    begin: async (administrator) => {
      const token = randomBytes(32).toString('base64url');
      const now = clock.now();
      const session = {
        hash: hashToken(token),
        administratorId: administrator.id,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + absoluteMs,
      };
      await repository.addSession(session);
      return { token: new Secret(token), session, administrator };
    },
    use: async (token) => {
      const found = token === undefined ? undefined : await repository.findSession(hashToken(token));
      const now = clock.now();
      if (found === undefined || now >= endOf(found.session)) throw sessionRejected();
      if (now - found.session.lastUsedAt < noteEveryMs) return found;
      await repository.touchSession(found.session.hash, now);
      return { ...found, session: { ...found.session, lastUsedAt: now } };
    },
    end: (session) => repository.removeSession(session.hash),
    endAll: (administratorId) => repository.removeSessions(administratorId),
  };
}

/** When a session ends unless it is used before. */
export function endOf(session: StoredSession): number {
  return Math.min(session.expiresAt, session.lastUsedAt + idleMs);
}

/** Enough without salt or stretching: a token has 256 random bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
