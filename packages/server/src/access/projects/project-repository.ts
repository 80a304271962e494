import type { ListQuery, Scope } from '@quartermaster/contract';
import type { Page } from '../../kernel/page.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** Whether the records of runs keep their inputs: `drop` by default, or `keep`. */
export type RunInputs = 'drop' | 'keep';

/** A key as it is stored: never the key itself. Times in milliseconds. */
export interface StoredKey {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly hash: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  /** The key that created it; null: an administrator or a command. */
  readonly makerId: string | null;
}

/** The keys that have changed since the last look. */
export interface KeyChanges {
  /** Of the last change: the next look begins there. */
  readonly number: number;
  /** These are all keys that may be used, not only changed ones. */
  readonly isWhole: boolean;
  /** Changed ones may be revoked or expired. */
  readonly keys: readonly StoredKey[];
}

export interface KeyBound {
  readonly now: number;
  /** Usable keys of one project. */
  readonly most: number;
}

export interface NewProjectOptions {
  /** Projects of the installation. */
  readonly most: number;
  readonly key?: StoredKey;
  /** Runs when the project and its key are written and not yet committed. */
  readonly beforeCommit?: () => Promise<void>;
}

/** Projects and their keys. */
export interface ProjectRepository {
  listProjects(): Promise<Project[]>;
  findProject(projectId: string): Promise<Project | undefined>;
  /**
   * Adds a project, together with the key of the options. Nothing is changed unless it is added.
   * @returns `taken` when a project of that name exists, otherwise `full` when there are `most` projects
   */
  addProject(project: Project, options: NewProjectOptions): Promise<'added' | 'taken' | 'full'>;
  /** Whether the run records of a project hold inputs. @returns false when there is no such project. */
  setRunInputs(projectId: string, runInputs: RunInputs): Promise<boolean>;
  projectsThatKeepInputs(): Promise<string[]>;
  listKeys(projectId?: string): Promise<StoredKey[]>;
  findKey(keyId: string): Promise<StoredKey | undefined>;
  /** Ordered by id. The caller checks that the cursors exist. */
  pageOfKeys(projectId: string, query: ListQuery): Promise<Page<StoredKey>>;
  /** @returns false when the project has as many usable keys as it may have */
  addKey(key: StoredKey, bound: KeyBound): Promise<boolean>;
  /**
   * Revokes a key, with descendants also the keys that it created, directly or by way of others.
   * @returns ids of the keys that were not revoked before.
   */
  revokeKey(keyId: string, at: number, withDescendants: boolean): Promise<string[]>;
  /** How many descendants of a key may be used at `now`. */
  countDescendants(keyId: string, now: number): Promise<number>;
  /**
   * The old key ends at `oldEndsAt` (sooner if it did already) and the new one is added: both or neither.
   * @returns `ended` when the old one is revoked by then, `full` when the project would have too many usable keys
   */
  replaceKey(
    oldKey: StoredKey,
    newKey: StoredKey,
    bound: KeyBound & { readonly oldEndsAt: number },
  ): Promise<'replaced' | 'ended' | 'full'>;
  /**
   * What other processes and this one have committed since a change, without reading other keys.
   * @param after the number of the last look; null: all keys that may be used at `now`
   */
  changedKeys(after: number | null, now: number): Promise<KeyChanges>;
  /** Those of the keys that may be used at `now`. */
  findUsable(keyIds: readonly string[], now: number): Promise<string[]>;
  /** Notes when keys were used last; never moves a time back. */
  touchKeys(uses: ReadonlyMap<string, number>): Promise<void>;
}
