import type { ConnectionStatus, ListQuery } from '@quartermaster/contract';
import type { Page } from '../../platform/page.ts';

/** A profile as stored. Times are in milliseconds. */
export interface StoredProfile {
  readonly id: string;
  readonly projectId: string;
  readonly bundleId: string;
  /** Unique in the project. */
  readonly name: string;
  /** The credentials, encrypted. */
  readonly encrypted: string;
  /** The id of the key that encrypted them. */
  readonly keyId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null unless an end user connected it. Its name is its id then. */
  readonly connection: StoredConnection | null;
}

/** What a connection of an end user is, beside its credentials. */
export interface StoredConnection {
  readonly endUser: string;
  readonly status: ConnectionStatus;
  readonly reason: string | null;
  readonly account: { readonly id: string; readonly label: string } | null;
  /** The scopes that the provider is asked for. */
  readonly asked: readonly string[];
  /** Those that the end user granted; before that, those asked for. */
  readonly scopes: readonly string[];
  /** When the access token expires, in milliseconds; null when the provider did not say so. */
  readonly accessExpiresAt: number | null;
  /** When it is refreshed, before that. */
  readonly refreshAt: number | null;
}

/** Which profiles a list contains. */
export interface ProfileFilter {
  /** Their bundles; null for all. */
  readonly bundles?: ReadonlySet<string> | null | undefined;
  /** Whether they are connections of end users. */
  readonly areConnections?: boolean;
  readonly endUser?: string | undefined;
  /** One connection, and what is held beside it. */
  readonly connectionId?: string | undefined;
  /** Whether their deletion has begun. Other lists do not contain them. */
  readonly areDeleting?: boolean;
}

/** The OAuth client of a bundle. Times are in milliseconds. */
export interface StoredBundleClient
  extends Pick<StoredProfile, 'id' | 'bundleId' | 'encrypted' | 'keyId' | 'createdAt' | 'updatedAt'> {}

export interface BundleClientRepository {
  find(bundleId: string): Promise<StoredBundleClient | undefined>;
  /** Adds the client of a bundle, or replaces it. Connections whose refresh the provider refused because of the client are tried again. */
  save(client: StoredBundleClient): Promise<void>;
  /** @returns whether there was one */
  remove(bundleId: string): Promise<boolean>;
}

/** Stores the credential profiles of projects. */
export interface CredentialProfileRepository {
  /**
   * Adds a profile or a connection, or changes nothing.
   * @returns `taken` when the project has a profile of that name, otherwise `full` when it has `most` of that kind
   */
  add(profile: StoredProfile, most: number): Promise<'added' | 'taken' | 'full'>;
  find(projectId: string, name: string): Promise<StoredProfile | undefined>;
  /** Returns the bundle ids of those profiles that exist, by name. Without names there is no query. */
  findBundles(projectId: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns one page of a project's profiles, in the order of their ids. */
  list(projectId: string, query: ListQuery, filter?: ProfileFilter): Promise<Page<StoredProfile>>;
  /**
   * Replaces the encrypted text that `profile` has, and the facts of a connection. `updatedAt` changes with new credentials only. A
   * profile without a project is the OAuth client of a bundle.
   * @returns false, without a change, when the profile was removed, or its removal began, or it was encrypted again concurrently
   */
  replace(
    profile: StoredProfile,
    replacement: Pick<StoredProfile, 'encrypted' | 'keyId' | 'updatedAt'> & Partial<Pick<StoredProfile, 'connection'>>,
  ): Promise<boolean>;
  /**
   * Claims the refresh of a profile's access token for one process, by the clock of the database.
   * @returns `expired` when it is claimed and an earlier claim was never released; `busy` when another claim is valid
   */
  claimRefresh(id: string, claim: string, forMs: number): Promise<RefreshClaim>;
  /** Releases only the given claim. */
  releaseRefresh(id: string, claim: string): Promise<void>;
  /** @returns false when there is no profile of that name */
  remove(projectId: string, name: string): Promise<boolean>;
  /** Whether another connection of a bundle, of any project, uses an account of the third party. */
  isAccountUsed(bundleId: string, accountId: string, exceptConnection: string): Promise<boolean>;
  /** Begins the deletion of connections, in one statement. From then on only a list of `areDeleting` contains them. */
  markDeleting(projectId: string, filter: Pick<ProfileFilter, 'bundles' | 'endUser' | 'connectionId'>): Promise<void>;
  /** Returns the ids of the projects with connections whose deletion has begun. */
  findDeleting(): Promise<string[]>;
  /** Removes the connections that were not completed, and begins the deletion of access that was held and not used. */
  expirePending(times: { readonly createdBefore: number; readonly heldBefore: number }): Promise<void>;
  /** Counts the profiles and OAuth clients that each key encrypts, of all projects. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
  /** Returns at most `limit` profiles that other keys encrypt, by id, those that follow `after`. */
  listEncryptedByOtherKeys(keyId: string, after: string, limit: number): Promise<StoredProfile[]>;
}

export type RefreshClaim = 'claimed' | 'expired' | 'busy';
