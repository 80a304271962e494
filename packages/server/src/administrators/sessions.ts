import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { Secret } from '../kernel/secret.ts';
import type { Administrator, AdministratorRepository, StoredSession } from './administrator-repository.ts';
import { sessionRejected } from './problems.ts';

const minute = 60_000;
export const idleMs = 30 * minute;
export const absoluteMs = 12 * 60 * minute;
/** The last use is written at most this often. */
const noteEveryMs = minute;

/** What a request says of its session. */
export interface SentTokens {
  /** The token in the cookie, which the browser sends to every port of this host. */
  readonly cookie: string | undefined;
  /** The token in the header, which only pages of the console's origin know. */
  readonly console: string | undefined;
}

/** A session just begun: the only time its tokens exist here. */
export interface NewSession {
  readonly token: Secret;
  readonly consoleToken: Secret;
  readonly session: StoredSession;
  readonly administrator: Administrator;
}

export interface FoundSession {
  readonly session: StoredSession;
  readonly administrator: Administrator;
}

/** Sessions of the console: two tokens of 256 random bits, kept as hashes; 30 minutes without use, 12 hours with. */
export interface Sessions {
  begin(administrator: Administrator): Promise<NewSession>;
  /** Notes the use. @throws Problem SESSION_VALIDATION_FAILED, the same for every session that cannot be used. */
  use(sent: SentTokens): Promise<FoundSession>;
  end(session: StoredSession): Promise<void>;
  /** Ends the session of a cookie, whether or not the console's token came with it. */
  endOfCookie(token: string | undefined): Promise<void>;
  endAll(administratorId: string): Promise<void>;
}

export function createSessions(deps: { repository: AdministratorRepository; clock: Clock }): Sessions {
  const { repository, clock } = deps;
  return {
    begin: async (administrator) => {
      const token = randomBytes(32).toString('base64url');
      const consoleToken = randomBytes(32).toString('base64url');
      const now = clock.now();
      const session = {
        hash: hashToken(token),
        consoleHash: hashToken(consoleToken),
        administratorId: administrator.id,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + absoluteMs,
      };
      await repository.addSession(session);
      return { token: new Secret(token), consoleToken: new Secret(consoleToken), session, administrator };
    },
    use: async (sent) => {
      if (sent.cookie === undefined || sent.console === undefined) throw sessionRejected();
      const found = await repository.findSession(hashToken(sent.cookie));
      const now = clock.now();
      if (found === undefined || now >= endOf(found.session)) throw sessionRejected();
      if (!isTokenOf(sent.console, found.session.consoleHash)) throw sessionRejected();
      if (now - found.session.lastUsedAt < noteEveryMs) return found;
      await repository.touchSession(found.session.hash, now);
      return { ...found, session: { ...found.session, lastUsedAt: now } };
    },
    end: (session) => repository.removeSession(session.hash),
    endOfCookie: async (token) => {
      if (token !== undefined) await repository.removeSession(hashToken(token));
    },
    endAll: (administratorId) => repository.removeSessions(administratorId),
  };
}

/** @returns those hashes of tokens whose sessions can still be used; notes no use. */
export async function findUsableSessions(
  { repository, clock }: { repository: Pick<AdministratorRepository, 'findSession'>; clock: Clock },
  hashes: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(hashes.map((hash) => repository.findSession(hash)));
  const now = clock.now();
  return hashes.filter((_, i) => {
    const session = found[i]?.session;
    return session !== undefined && now < endOf(session);
  });
}

/** When a session ends unless it is used before. */
export function endOf(session: StoredSession): number {
  return Math.min(session.expiresAt, session.lastUsedAt + idleMs);
}

function isTokenOf(token: string, hash: string): boolean {
  const found = Buffer.from(hashToken(token));
  const expected = Buffer.from(hash);
  return found.length === expected.length && timingSafeEqual(found, expected);
}

/** Enough without salt or stretching: a token has 256 random bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
