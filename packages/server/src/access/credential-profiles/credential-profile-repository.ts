import type { ListQuery } from '@quartermaster/contract';
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
}

/** Stores the credential profiles of projects. */
export interface CredentialProfileRepository {
  /**
   * Adds a profile, or changes nothing.
   * @returns `taken` when the project has a profile of that name, otherwise `full` when it has `most` profiles
   */
  add(profile: StoredProfile, most: number): Promise<'added' | 'taken' | 'full'>;
  find(projectId: string, name: string): Promise<StoredProfile | undefined>;
  /** Returns the bundle ids of those profiles that exist, by name. Without names there is no query. */
  findBundles(projectId: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns one page of a project's profiles, in the order of their ids. */
  /** @param bundles the bundles whose profiles are listed; null or absent for all */
  list(projectId: string, query: ListQuery, bundles?: ReadonlySet<string> | null): Promise<Page<StoredProfile>>;
  /**
   * Replaces the encrypted text that `profile` has. `updatedAt` changes with new credentials only.
   * @returns false, without a change, when the profile was removed or encrypted again concurrently
   */
  replace(
    profile: StoredProfile,
    replacement: Pick<StoredProfile, 'encrypted' | 'keyId' | 'updatedAt'>,
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
  /** Counts the profiles that each key encrypts, of all projects. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
  /** Returns at most `limit` profiles that other keys encrypt, by id, those that follow `after`. */
  listEncryptedByOtherKeys(keyId: string, after: string, limit: number): Promise<StoredProfile[]>;
}

export type RefreshClaim = 'claimed' | 'expired' | 'busy';
