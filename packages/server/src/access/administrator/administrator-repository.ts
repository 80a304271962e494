/** The administrator, who manages all projects. There is one, created by the setup link only. */
export interface Administrator {
  readonly id: string;
  readonly name: string;
  /** In the PHC form: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  readonly passwordHash: string;
  /** Signs the marks of browsers that signed in before; 64 hexadecimal characters. */
  readonly browserSecret: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A session as it is stored: never its tokens. Times in milliseconds. */
export interface StoredSession {
  /** Names it in lists and logs. It opens nothing. */
  readonly id: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /** SHA-256 of the token that the console keeps, hexadecimal. Empty for a session that an earlier version began. */
  readonly consoleHash: string;
  readonly administratorId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  /** It ends then, however much it is used. */
  readonly expiresAt: number;
  /** Address of the client that created the session. */
  readonly clientAddress: string;
  /** User-Agent of that client. */
  readonly userAgent: string;
}

/** Sessions can be used until they expire, and while their last use is later than `idleSince`. */
export interface SessionTimes {
  readonly now: number;
  readonly idleSince: number;
}

export interface SessionBound extends SessionTimes {
  /** Usable sessions of one administrator, the new one included. */
  readonly most: number;
  /** The hash of the session that the new one replaces. */
  readonly replaces?: string | undefined;
}

/** Ids of the sessions that ended because another one began. */
export interface EndedSessions {
  readonly replaced: readonly string[];
  readonly leastUsed: readonly string[];
}

/** Attempts to sign in, of one account, address or browser, in one window of time. */
export interface AttemptCounter {
  readonly windowStart: number;
  readonly failures: number;
  /** Not before this time may there be another one. */
  readonly retryAt: number;
}

export interface SetUpToken {
  readonly hash: string;
  readonly expiresAt: number;
}

/** Of one installation. */
export const maxAdministrators = 1;

/** Administrators, their sessions and what guards them. Every change is one transaction. */
export interface AdministratorRepository {
  /** The administrator, if there is one yet. */
  findAdministrator(): Promise<Administrator | undefined>;
  /** Takes the place of the one before. @returns false when there is an administrator already: nothing changes then. */
  keepSetUpToken(token: SetUpToken): Promise<boolean>;
  findSetUpToken(): Promise<SetUpToken | undefined>;
  /** Uses up the token and adds the administrator, once however many ask at once. @returns whether it did. */
  addAdministrator(administrator: Administrator, tokenHash: string, now: number): Promise<boolean>;
  /** No administrator, session or token is left: the next start, or a command, makes a new link. */
  removeAdministrator(): Promise<void>;
  /**
   * Stores a new hash of the same password. Sessions stay.
   * @returns false, and nothing is changed, when the stored hash is not `administrator.passwordHash`
   */
  renewPasswordHash(administrator: Administrator, passwordHash: string): Promise<boolean>;
  /** Stores a new password and ends every session. */
  setPassword(administrator: Administrator): Promise<void>;
  /**
   * Adds a session. If the administrator then had too many, those that were used least recently end.
   * @returns the sessions that ended; undefined, and nothing is changed, when the administrator was removed or has
   *   another password than `administrator`
   */
  addSession(
    session: StoredSession,
    administrator: Administrator,
    bound: SessionBound,
  ): Promise<EndedSessions | undefined>;
  /** The usable sessions of an administrator, in the order in which they began. */
  listSessions(administratorId: string, times: SessionTimes): Promise<StoredSession[]>;
  /** @returns those of the hashes whose sessions can be used */
  findUsableSessions(hashes: readonly string[], times: SessionTimes): Promise<string[]>;
  findSession(hash: string): Promise<{ session: StoredSession; administrator: Administrator } | undefined>;
  /** Never moves a time back. */
  touchSession(hash: string, at: number): Promise<void>;
  removeSession(hash: string): Promise<void>;
  /** @returns false when the administrator has no session with that id */
  removeSessionById(administratorId: string, id: string): Promise<boolean>;
  removeSessions(administratorId: string): Promise<void>;
  /** Removes sessions that are over, and counters whose window began before `countersBefore`. */
  sweep(times: SessionTimes, countersBefore: number): Promise<void>;
  /**
   * Changes counters, all in one transaction that no other change of the same counters can come between.
   * `change` gets them in the order asked for and gives what they shall be; null: nothing is written.
   */
  changeCounters(
    buckets: readonly string[],
    change: (counters: ReadonlyArray<AttemptCounter | undefined>) => readonly AttemptCounter[] | null,
  ): Promise<void>;
}
