import type { Role } from '@quartermaster/contract';

/** A person who signs in: with a password (one account, created with the setup link), or at an identity provider. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  /** In PHC string format: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. Null without a password. */
  readonly passwordHash: string | null;
  /** Signs the device cookies of browsers; 64 hexadecimal characters. Null without a password. */
  readonly browserSecret: string | null;
  /** Whether the account manages the whole service. */
  readonly isAdministrator: boolean;
  /** The identity provider, and the id of the person there. Null for the account with the password. */
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly disabledAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSignInAt: number | null;
}

export interface PasswordAccount extends Account {
  readonly passwordHash: string;
  readonly browserSecret: string;
}

export function hasPassword(account: Account): account is PasswordAccount {
  return account.passwordHash !== null;
}

/** A person as an identity provider describes it. The issuer and the subject identify it; the e-mail address never does. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
}

/** What the identity provider decides. An absent member changes nothing. */
export interface Claims {
  /** False ends what an earlier sign-in gave; what a person gave stays. */
  readonly isAdministrator?: boolean;
  /** The roles by project id. They replace those of an earlier sign-in; roles that a person set stay. */
  readonly roles?: ReadonlyMap<string, Role>;
}

export interface IdentitySignIn {
  readonly identity: Identity;
  readonly claims: Claims;
  /** The id of an account for an unknown identity; null when it must exist. */
  readonly newId: string | null;
}

/** What a sign-in with an identity provider changed of an account. */
export interface SignInChanges {
  readonly isCreated: boolean;
  /** Absent when it did not change. */
  readonly isAdministrator?: boolean;
  /** Roles in projects: new ones, and null for those that ended. */
  readonly roles: ReadonlyMap<string, Role | null>;
  /** The project of each application that was signed out. */
  readonly endedIn: readonly string[];
}

/** A session as stored, without its tokens. Times are in milliseconds. */
export interface StoredSession {
  /** Identifies the session in lists and logs. It grants no access. */
  readonly id: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /** SHA-256 of the token that the console keeps, hexadecimal. */
  readonly consoleHash: string;
  readonly accountId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  /** The session ends at this time, even when it is in use. */
  readonly expiresAt: number;
  /** Address of the client that created the session. */
  readonly clientAddress: string;
  /** User-Agent of that client. */
  readonly userAgent: string;
}

/** A session is usable until it expires, while its last use is later than `idleSince`. */
export interface SessionTimes {
  readonly now: number;
  readonly idleSince: number;
}

export interface SessionBound extends SessionTimes {
  /** The maximum number of usable sessions of one account, including the new one. */
  readonly most: number;
  /** The hash of the session that the new one replaces. */
  readonly replaces?: string | undefined;
}

/** Ids of the sessions that ended because a new one began. */
export interface EndedSessions {
  readonly replaced: readonly string[];
  readonly leastUsed: readonly string[];
}

/** Counts the sign-in attempts of one account, address or browser in one time window. */
export interface AttemptCounter {
  readonly windowStart: number;
  readonly failures: number;
  /** The earliest time of the next attempt. */
  readonly retryAt: number;
}

export interface SetUpToken {
  readonly hash: string;
  readonly expiresAt: number;
}

/** Stores accounts, their sessions and their sign-in counters. Every change is one transaction. */
export interface AccountRepository {
  /** Returns the account with the password, if there is one. */
  findPasswordAccount(): Promise<PasswordAccount | undefined>;
  findAccount(id: string): Promise<Account | undefined>;
  /**
   * Replaces the previous token.
   * @param keepsValidAt a token that is valid at this time is not replaced
   * @returns `account` when there is an account with a password already, `valid` when there is a valid token
   */
  keepSetUpToken(token: SetUpToken, keepsValidAt?: number): Promise<'stored' | 'account' | 'valid'>;
  findSetUpToken(): Promise<SetUpToken | undefined>;
  /**
   * Consumes the token and adds the account. Only one of several concurrent calls succeeds.
   * @returns whether this call did
   */
  addPasswordAccount(account: PasswordAccount, tokenHash: string, now: number): Promise<boolean>;
  /**
   * Removes the account with the password, and all that belongs to it. The next start, or a command, creates a new link.
   * @returns its id; undefined when there was none
   */
  removePasswordAccount(): Promise<string | undefined>;
  /**
   * Stores a new hash of the same password. Sessions stay.
   * @returns false, without a change, when the stored hash is not `account.passwordHash`
   */
  renewPasswordHash(account: PasswordAccount, passwordHash: string): Promise<boolean>;
  /** Stores a new password and ends every session. */
  setPassword(account: PasswordAccount): Promise<void>;
  /**
   * Adds a session. When the account then has too many, those that were used least recently end.
   * @returns the sessions that ended; undefined, without a change, when the account was removed or disabled, or has another
   * password than `account`
   */
  addSession(session: StoredSession, account: PasswordAccount, bound: SessionBound): Promise<EndedSessions | undefined>;
  /**
   * Finds or creates the account of an identity, stores what its provider says, and adds a session.
   * @returns undefined, without a change, for a disabled account, and for an unknown one that must exist
   */
  addIdentitySession(
    session: Omit<StoredSession, 'accountId'>,
    signIn: IdentitySignIn,
    bound: SessionBound,
  ): Promise<{ readonly account: Account; readonly ended: EndedSessions; readonly changes: SignInChanges } | undefined>;
  /** Returns the usable sessions of an account, in the order in which they began. */
  listSessions(accountId: string, times: SessionTimes): Promise<StoredSession[]>;
  /** @returns those of the hashes whose sessions are usable, with the rights in each project: see `standingIn` */
  findUsableSessions(hashes: readonly string[], times: SessionTimes): Promise<string[]>;
  findSession(hash: string): Promise<{ session: StoredSession; account: Account } | undefined>;
  /** Records the last use; the stored time never decreases. */
  touchSession(hash: string, at: number): Promise<void>;
  removeSession(hash: string): Promise<void>;
  /** @returns false when the account has no session with that id */
  removeSessionById(accountId: string, id: string): Promise<boolean>;
  removeSessions(accountId: string): Promise<void>;
  /** Removes sessions that have ended, and counters whose window began before `countersBefore`. */
  sweep(times: SessionTimes, countersBefore: number): Promise<void>;
  /**
   * Changes counters in one transaction, which excludes other changes of the same counters. `change` receives them in
   * the requested order and returns their new values; null writes nothing.
   */
  changeCounters(
    buckets: readonly string[],
    change: (counters: ReadonlyArray<AttemptCounter | undefined>) => readonly AttemptCounter[] | null,
  ): Promise<void>;
}
