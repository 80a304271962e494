/** Who may manage every project. There is one; its rows are made by the set-up link only. */
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
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /** SHA-256 of the token that the console keeps, hexadecimal. Empty for a session that an earlier version began. */
  readonly consoleHash: string;
  readonly administratorId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  /** It ends then, however much it is used. */
  readonly expiresAt: number;
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
  /** With a new password every session ends. A rehash of the same password ends none. */
  setPassword(administrator: Administrator, endSessions: boolean): Promise<void>;
  addSession(session: StoredSession): Promise<void>;
  findSession(hash: string): Promise<{ session: StoredSession; administrator: Administrator } | undefined>;
  /** Never moves a time back. */
  touchSession(hash: string, at: number): Promise<void>;
  removeSession(hash: string): Promise<void>;
  removeSessions(administratorId: string): Promise<void>;
  /** Sessions that are over, and counters whose window began before `countersBefore`. */
  sweep(now: number, countersBefore: number): Promise<void>;
  /**
   * Changes counters, all in one transaction that no other change of the same counters can come between.
   * `change` gets them in the order asked for and gives what they shall be; null: nothing is written.
   */
  changeCounters(
    buckets: readonly string[],
    change: (counters: ReadonlyArray<AttemptCounter | undefined>) => readonly AttemptCounter[] | null,
  ): Promise<void>;
}
