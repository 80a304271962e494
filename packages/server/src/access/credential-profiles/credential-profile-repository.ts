import type { ListQuery } from '@quartermaster/contract';
import type { Page } from '../../kernel/page.ts';

/** A profile as it is stored. Times in milliseconds. */
export interface StoredProfile {
  readonly id: string;
  readonly projectId: string;
  readonly bundleId: string;
  /** Unique in the project. */
  readonly name: string;
  /** The credentials, encrypted. */
  readonly sealed: string;
  /** Id of the key that encrypted them. */
  readonly keyId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Credential profiles of projects. */
export interface CredentialProfileRepository {
  /**
   * Nothing is changed unless it is added.
   * @returns `taken` when the project has a profile of that name, otherwise `full` when it has `most` profiles
   */
  add(profile: StoredProfile, most: number): Promise<'added' | 'taken' | 'full'>;
  find(projectId: string, name: string): Promise<StoredProfile | undefined>;
  /** One page of a project's profiles, in the order of their ids. */
  list(projectId: string, query: ListQuery): Promise<Page<StoredProfile>>;
  /** Whether an id is that of a profile of the project. */
  has(projectId: string, id: string): Promise<boolean>;
  /**
   * Puts another encrypted text in the place of the one that `profile` has; `updatedAt` when the credentials are others.
   * @returns false when it was removed or encrypted again concurrently; nothing is changed then.
   */
  replace(profile: StoredProfile, seal: Pick<StoredProfile, 'sealed' | 'keyId' | 'updatedAt'>): Promise<boolean>;
  /**
   * Claims the refresh of a profile's access token for one process, by the clock of the database.
   * @returns `expired` when it is claimed and an earlier claim was never released; `busy` when another claim is in force
   */
  claimRefresh(id: string, claim: string, forMs: number): Promise<RefreshClaim>;
  /** Only the claim of that name is released. */
  releaseRefresh(id: string, claim: string): Promise<void>;
  /** @returns false when there is none of that name. */
  remove(projectId: string, name: string): Promise<boolean>;
  /** How many profiles each key encrypts, of all projects. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
  /** Profiles that another key than this one encrypts, by id, after this id, at most `limit`. */
  sealedByOthers(keyId: string, after: string, limit: number): Promise<StoredProfile[]>;
}

export type RefreshClaim = 'claimed' | 'expired' | 'busy';
