import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { maxSessions, type Role } from '@quartermaster/contract';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { objectNotFound } from '../../platform/problem.ts';
import { Secret } from '../../platform/secret.ts';
import type {
  Account,
  AccountRepository,
  EndedSessions,
  IdentitySignIn,
  PasswordAccount,
  SessionTimes,
  SignInChanges,
  StoredSession,
} from './account-repository.ts';
import { noAccess, sessionRejected, signInRefused } from './problems.ts';

const minute = 60_000;
export const idleMs = 30 * minute;
export const absoluteMs = 12 * 60 * minute;
/** The last use is stored at most once in this time. */
const noteEveryMs = minute;
/** The maximum number of stored characters of the User-Agent. */
export const longestUserAgent = 256;
/** The maximum length, because an IPv6 address with a zone may be longer. */
const longestAddress = 64;

/** The client that creates a session. */
export interface SessionOrigin {
  readonly address: string;
  /** The header `User-Agent`. */
  readonly userAgent?: string | undefined;
  /** The token in the session cookie of the request. That session ends. */
  readonly replaces?: string | undefined;
}

/** The session tokens of a request. */
export interface SentTokens {
  /** The token in the cookie, which the browser sends to every port of this host. */
  readonly cookie: string | undefined;
  /** The token in the header, which only pages of the console's origin know. */
  readonly console: string | undefined;
}

/** A new session. Its tokens exist in clear only here. */
export interface NewSession {
  readonly token: Secret;
  readonly consoleToken: Secret;
  readonly session: StoredSession;
  readonly account: Account;
  readonly ended: EndedSessions;
}

export interface FoundSession {
  readonly session: StoredSession;
  readonly account: Account;
}

/**
 * The sessions of the console. Each has two tokens of 256 random bits, stored as hashes. A session ends after 30
 * minutes without use, and after 12 hours in any case.
 */
export interface Sessions {
  /**
   * Creates a session and ends the one that it replaces. Beyond `maxSessions`, the sessions that were used least
   * recently end.
   * @throws Problem SESSION_VALIDATION_FAILED when the password has changed since `account` was read
   */
  begin(account: PasswordAccount, origin: SessionOrigin): Promise<NewSession>;
  /**
   * Does the same for an identity.
   * @throws Problem PERMISSION_DENIED when it has no access
   */
  beginAs(signIn: IdentitySignIn, origin: SessionOrigin): Promise<NewSession & { readonly changes: SignInChanges }>;
  /**
   * Returns the session and records the use.
   * @throws Problem SESSION_VALIDATION_FAILED, the same for every unusable session
   */
  use(sent: SentTokens): Promise<FoundSession>;
  /** Returns the usable sessions of an account, in the order in which they began. */
  list(accountId: string): Promise<StoredSession[]>;
  end(session: StoredSession): Promise<void>;
  /** @throws Problem OBJECT_NOT_FOUND when the account has no session with that id */
  endById(accountId: string, id: string): Promise<void>;
  endAll(accountId: string): Promise<void>;
}

export interface SessionsDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly repository: AccountRepository;
}

export function createSessions({ repository, clock, newId }: SessionsDeps): Sessions {
  function newSession({ address, userAgent = '', replaces }: SessionOrigin) {
    const token = randomBytes(32).toString('base64url');
    const consoleToken = randomBytes(32).toString('base64url');
    const now = clock.now();
    const session = {
      id: newId('session'),
      hash: hashToken(token),
      consoleHash: hashToken(consoleToken),
      createdAt: now,
      lastUsedAt: now,
      expiresAt: now + absoluteMs,
      clientAddress: printable(address, longestAddress),
      userAgent: printable(userAgent, longestUserAgent),
    };
    const bound = { ...timesAt(now), most: maxSessions, replaces: replaces && hashToken(replaces) };
    return { session, bound, tokens: { token: new Secret(token), consoleToken: new Secret(consoleToken) } };
  }
  return {
    begin: async (account, origin) => {
      const { session, bound, tokens } = newSession(origin);
      const stored = { ...session, accountId: account.id };
      const ended = await repository.addSession(stored, account, bound);
      if (ended === undefined) throw signInRefused();
      return { ...tokens, session: stored, account, ended };
    },
    beginAs: async (signIn, origin) => {
      const { session, bound, tokens } = newSession(origin);
      const added = await repository.addIdentitySession(session, signIn, bound);
      if (added === undefined) throw noAccess();
      return { ...tokens, ...added, session: { ...session, accountId: added.account.id } };
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
    list: (accountId) => repository.listSessions(accountId, timesAt(clock.now())),
    end: (session) => repository.removeSession(session.hash),
    endById: async (accountId, id) => {
      if (!(await repository.removeSessionById(accountId, id))) throw objectNotFound('session', id);
    },
    endAll: (accountId) => repository.removeSessions(accountId),
  };
}

/** Returns the times that decide which sessions are usable at `now`. */
export function timesAt(now: number): SessionTimes {
  return { now, idleSince: now - idleMs };
}

/** Truncates the text, which the client chooses, and replaces characters that a terminal or a page may interpret. */
function printable(text: string, most: number): string {
  return text.slice(0, most).replace(/[^\x20-\x7e]/g, '?');
}

/** Describes a session with the rights of its person in a project. An administrator of the service has the same ones everywhere. */
export function standingIn(
  hash: string,
  { isAdministrator, projectId, role }: { isAdministrator: boolean; projectId: string | null; role: Role | null },
): string {
  return isAdministrator ? `${hash} everywhere` : `${hash} ${projectId} ${role}`;
}

/** Returns when a session ends unless it is used before. */
export function endOf(session: StoredSession): number {
  return Math.min(session.expiresAt, session.lastUsedAt + idleMs);
}

function isTokenOf(token: string, hash: string): boolean {
  const found = Buffer.from(hashToken(token));
  const expected = Buffer.from(hash);
  return found.length === expected.length && timingSafeEqual(found, expected);
}

/** A token has 256 random bits, so neither salt nor stretching is needed. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
