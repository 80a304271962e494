import type { ListQuery } from '@quartermaster/contract';
import type { Page } from '../../platform/page.ts';
import type { Grant } from '../../platform/permissions.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** Whether the records of runs contain their inputs: `drop` (the default) or `keep`. */
export type RunInputs = 'drop' | 'keep';

/** A key as stored, without its text. Times are in milliseconds. */
export interface StoredKey extends Grant {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly hash: string;
  readonly hint: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  /** The key that created it; null when an administrator or a command did. */
  readonly makerId: string | null;
  /** Ids of the keys that it replaced, the newest first. It owns what they uploaded. */
  readonly replaced: readonly string[];
}

/** The keys that have changed since the last load. */
export interface KeyChanges {
  /** The number of the last change, where the next load starts. */
  readonly number: number;
  /** True when these are all usable keys, and not only changed ones. */
  readonly isWhole: boolean;
  /** Changed keys may be revoked or expired. */
  readonly keys: readonly StoredKey[];
}

export interface KeyBound {
  readonly now: number;
  /** The maximum number of usable keys of one project. */
  readonly most: number;
}

export interface NewProjectOptions {
  /** The maximum number of projects of the installation. */
  readonly most: number;
  readonly key?: StoredKey;
  /** Runs after the project and its key are written and before the commit. */
  readonly beforeCommit?: () => Promise<void>;
}

/** Stores projects and their keys. */
export interface ProjectRepository {
  listProjects(): Promise<Project[]>;
  findProject(projectId: string): Promise<Project | undefined>;
  /**
   * Adds a project and the key of the options, or changes nothing.
   * @returns `taken` when a project of that name exists, otherwise `full` when there are `most` projects
   */
  addProject(project: Project, options: NewProjectOptions): Promise<'added' | 'taken' | 'full'>;
  /**
   * Sets whether the run records of a project contain inputs.
   * @returns false when there is no such project
   */
  setRunInputs(projectId: string, runInputs: RunInputs): Promise<boolean>;
  projectsThatKeepInputs(): Promise<string[]>;
  listKeys(projectId?: string): Promise<StoredKey[]>;
  findKey(keyId: string): Promise<StoredKey | undefined>;
  /** Returns those of the collections that the project has. */
  findCollections(projectId: string, collectionIds: readonly string[]): Promise<string[]>;
  findKeyByHash(hash: string): Promise<StoredKey | undefined>;
  /** Returns keys ordered by id. The caller checks that the cursors exist. */
  pageOfKeys(projectId: string, query: ListQuery): Promise<Page<StoredKey>>;
  /** @returns false when the project already has the maximum number of usable keys */
  addKey(key: StoredKey, bound: KeyBound): Promise<boolean>;
  /**
   * Revokes a key and, if requested, its descendants: the keys that it created, directly or indirectly.
   * @returns ids of the keys that were not revoked before
   */
  revokeKey(keyId: string, at: number, withDescendants: boolean): Promise<string[]>;
  /** Counts the descendants of a key that are usable at `now`. */
  countDescendants(keyId: string, now: number): Promise<number>;
  /**
   * Ends the old key at `oldEndsAt`, unless it ends sooner, and adds the new one: both or neither.
   * @returns `ended` when the old key is already revoked, `full` when the project would have too many usable keys
   */
  replaceKey(
    oldKey: StoredKey,
    newKey: StoredKey,
    bound: KeyBound & { readonly oldEndsAt: number },
  ): Promise<'replaced' | 'ended' | 'full'>;
  /**
   * Returns the changes that any process has committed since a change, without reading other keys.
   * @param after the number of the last load; null returns all keys that are usable at `now`
   */
  changedKeys(after: number | null, now: number): Promise<KeyChanges>;
  /** Returns those of the keys that are usable at `now`. */
  findUsable(keyIds: readonly string[], now: number): Promise<string[]>;
  /** Records when keys were used last. A stored time never decreases. */
  touchKeys(uses: ReadonlyMap<string, number>): Promise<void>;
}
