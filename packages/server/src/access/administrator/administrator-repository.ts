/** The administrator, who manages all projects. There is only one, created with the setup link. */
export interface Administrator {
  readonly id: string;
  readonly name: string;
  /** In PHC string format: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  readonly passwordHash: string;
  /** Signs the device cookies of browsers; 64 hexadecimal characters. */
  readonly browserSecret: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A session as stored, without its tokens. Times are in milliseconds. */
export interface StoredSession {
  /** Identifies the session in lists and logs. It grants no access. */
  readonly id: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /** SHA-256 of the token that the console keeps, hexadecimal. */
  readonly consoleHash: string;
  readonly administratorId: string;
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
  /** The maximum number of usable sessions of one administrator, including the new one. */
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

/** The maximum number in one installation. */
export const maxAdministrators = 1;

/** Stores administrators, their sessions and their sign-in counters. Every change is one transaction. */
export interface AdministratorRepository {
  /** Returns the administrator, if there is one. */
  findAdministrator(): Promise<Administrator | undefined>;
  /**
   * Replaces the previous token.
   * @returns false when there is an administrator already; nothing changes then
   */
  keepSetUpToken(token: SetUpToken): Promise<boolean>;
  findSetUpToken(): Promise<SetUpToken | undefined>;
  /**
   * Consumes the token and adds the administrator. Only one of several concurrent calls succeeds.
   * @returns whether this call did
   */
  addAdministrator(administrator: Administrator, tokenHash: string, now: number): Promise<boolean>;
  /** Removes the administrator with all sessions and tokens. The next start, or a command, creates a new link. */
  removeAdministrator(): Promise<void>;
  /**
   * Stores a new hash of the same password. Sessions stay.
   * @returns false, without a change, when the stored hash is not `administrator.passwordHash`
   */
  renewPasswordHash(administrator: Administrator, passwordHash: string): Promise<boolean>;
  /** Stores a new password and ends every session. */
  setPassword(administrator: Administrator): Promise<void>;
  /**
   * Adds a session. When the administrator then has too many, those that were used least recently end.
   * @returns the sessions that ended; undefined, without a change, when the administrator was removed or has another
   * password than `administrator`
   */
  addSession(
    session: StoredSession,
    administrator: Administrator,
    bound: SessionBound,
  ): Promise<EndedSessions | undefined>;
  /** Returns the usable sessions of an administrator, in the order in which they began. */
  listSessions(administratorId: string, times: SessionTimes): Promise<StoredSession[]>;
  /** @returns those of the hashes whose sessions are usable */
  findUsableSessions(hashes: readonly string[], times: SessionTimes): Promise<string[]>;
  findSession(hash: string): Promise<{ session: StoredSession; administrator: Administrator } | undefined>;
  /** Records the last use; the stored time never decreases. */
  touchSession(hash: string, at: number): Promise<void>;
  removeSession(hash: string): Promise<void>;
  /** @returns false when the administrator has no session with that id */
  removeSessionById(administratorId: string, id: string): Promise<boolean>;
  removeSessions(administratorId: string): Promise<void>;
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
