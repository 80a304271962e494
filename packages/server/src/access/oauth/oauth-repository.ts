import type { OauthScope, Role } from '@quartermaster/contract';

/** What a person has allowed an application to do, and for which MCP server. Times are in milliseconds. */
export interface StoredGrant {
  readonly id: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly projectId: string;
  /** The identifier of the MCP server for which the tokens are valid. */
  readonly resource: string;
  readonly scopes: readonly OauthScope[];
  /** Ids of collections; null: every collection of the project, later ones included. */
  readonly collections: readonly string[] | null;
  /** Ids of bundles, and `bundle_id/plugin_id`; null: every plugin. */
  readonly tools: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** Describes a grant with the role that its person has. */
export function standingOfGrant(id: string, role: Role): string {
  return `${id} ${role}`;
}

/** An application. Its id is the URL of its metadata document, or the id of its registration. */
export interface StoredClient {
  readonly id: string;
  readonly kind: 'document' | 'registered';
  /** The metadata of RFC 7591. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** A document is used without a request until this time. */
  readonly freshUntil: number;
}

/** A code, a token or another object of the authorization server, without its secret. */
export interface StoredRecord {
  readonly model: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  readonly grantId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
  /** The number of exchanges. */
  readonly uses: number;
}

export interface FoundRecord {
  readonly record: StoredRecord;
  readonly grant: StoredGrant | undefined;
  /** The role that the person has now in the project of the grant. Without one the grant is not usable. */
  readonly role: Role | undefined;
}

export type NewRecord = Omit<StoredRecord, 'consumedAt' | 'uses'>;

export interface Use {
  readonly now: number;
  /** A record that was first used at this time or before cannot be used. */
  readonly since: number;
  /** The maximum number of uses. */
  readonly most: number;
}

/** The consents in these projects, and those of an account. */
export interface ManagedGrants {
  readonly projects: ReadonlySet<string>;
  readonly accountId: string | null;
}

/** Stores grants, applications, and the codes and tokens of grants. */
export interface OauthRepository {
  /** Adds a record, or replaces the payload and the expiry of the one with the same hash. */
  saveRecord(record: NewRecord): Promise<void>;
  /** Returns a record that has not expired at `now`, with its grant. Without a usable grant it does not exist. */
  findRecord(model: string, hash: string, now: number): Promise<FoundRecord | undefined>;
  /** Returns several of them, in any order. `hashes` has at least one. */
  findRecords(model: string, hashes: readonly string[], now: number): Promise<FoundRecord[]>;
  /** Counts a use in one statement, so that only `most` of several concurrent calls succeed. @returns whether it did */
  useRecord(model: string, hash: string, use: Use): Promise<boolean>;
  /** @returns whether this call removed it */
  removeRecord(model: string, hash: string): Promise<boolean>;
  /** Removes the oldest unused records of a grant beyond `most`. */
  keepNewest(model: string, grantId: string, most: number): Promise<void>;
  /** Counts an event in a time window of all processes. @returns false beyond `most` */
  countEvent(hash: string, window: { readonly expiresAt: number; readonly most: number }): Promise<boolean>;
  /** Undoes `countEvent`. */
  uncountEvent(hash: string): Promise<void>;

  addGrant(grant: StoredGrant): Promise<void>;
  findGrant(id: string): Promise<StoredGrant | undefined>;
  /** Returns the usable grants of a project, or of all projects, that have a token, in the order in which they were given. */
  listGrants(managed: ManagedGrants | null, now: number): Promise<StoredGrant[]>;
  /** @returns false when the grant does not exist or was revoked before */
  revokeGrant(id: string, at: number): Promise<boolean>;
  /** Returns those of the grants that are usable at `now`, with the role of their person: see `standingOfGrant`. */
  findUsableGrants(ids: readonly string[], now: number): Promise<string[]>;
  touchGrant(id: string, at: number): Promise<void>;

  saveClient(client: StoredClient): Promise<void>;
  findClient(id: string): Promise<StoredClient | undefined>;
  findClients(ids: readonly string[]): Promise<StoredClient[]>;
  /** @returns false when there are `most` applications of the kind without a grant already */
  addClient(client: StoredClient, most: number): Promise<boolean>;

  /**
   * Removes what expired, and what is older than a day and was never used: applications without a grant, and grants whose code was
   * not exchanged. A used refresh token stays until it expires, so that a repeated use is recognised.
   */
  sweep(now: number): Promise<void>;
}
