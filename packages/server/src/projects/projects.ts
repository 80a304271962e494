import type { Scope } from '@quartermaster/contract';
import { checkName } from '../kernel/check-name.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import { objectNotFound } from '../kernel/problem.ts';
import { Secret } from '../kernel/secret.ts';
import { hashApiKey, makeApiKey } from './api-key.ts';
import { projectNameTaken } from './problems.ts';
import type { Project, ProjectRepository, RunInputs, StoredKey } from './project-repository.ts';

/** A key that was just made: the only time its text exists. */
export interface NewKey {
  readonly stored: StoredKey;
  readonly key: Secret;
}

export interface KeyWish {
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds; null: does not expire. */
  readonly expiresAt: number | null;
}

/** Managing projects and keys. Every function throws OBJECT_NOT_FOUND for ids that do not exist. */
export interface Projects {
  createProject(name: string): Promise<Project>;
  listProjects(): Promise<Project[]>;
  /** Whether the records of its runs hold inputs, from a few seconds later on. */
  setRunInputs(projectId: string, runInputs: RunInputs): Promise<void>;
  createKey(wish: KeyWish): Promise<NewKey>;
  listKeys(projectId?: string): Promise<StoredKey[]>;
  revokeKey(keyId: string): Promise<void>;
  /** A new key with the same name, scopes and expiry; the old one works for `overlapMs` more. */
  rotateKey(keyId: string, overlapMs: number): Promise<NewKey>;
}

export interface ProjectsDeps {
  readonly repository: ProjectRepository;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createProjects(deps: ProjectsDeps): Projects {
  const { repository, clock, newId } = deps;

  async function getProject(projectId: string): Promise<Project> {
    const project = await repository.findProject(projectId);
    if (project === undefined) throw objectNotFound('project', projectId);
    return project;
  }
  async function getKey(keyId: string): Promise<StoredKey> {
    const key = await repository.findKey(keyId);
    if (key === undefined) throw objectNotFound('key', keyId);
    return key;
  }

  return {
    createProject: async (name) => {
      checkName(name, longestName);
      const project = { id: newId('project'), name, createdAt: clock.now() };
      if (!(await repository.addProject(project))) throw projectNameTaken(name);
      return project;
    },
    listProjects: () => repository.listProjects(),
    setRunInputs: async (projectId, runInputs) => {
      if (!(await repository.setRunInputs(projectId, runInputs))) throw objectNotFound('project', projectId);
    },
    createKey: async (wish) => {
      checkName(wish.name, longestName);
      await getProject(wish.projectId);
      const made = newKey(deps, wish);
      await repository.addKey(made.stored);
      return made;
    },
    listKeys: async (projectId) => {
      if (projectId !== undefined) await getProject(projectId);
      return repository.listKeys(projectId);
    },
    revokeKey: async (keyId) => {
      await getKey(keyId);
      await repository.revokeKey(keyId, clock.now());
    },
    rotateKey: async (keyId, overlapMs) => {
      const old = await getKey(keyId);
      const isOver = old.expiresAt !== null && old.expiresAt <= clock.now();
      if (old.revokedAt !== null || isOver) throw objectNotFound('usable key', keyId);
      const made = newKey(deps, old);
      const isReplaced = await repository.replaceKey(keyId, clock.now() + overlapMs, made.stored);
      if (!isReplaced) throw objectNotFound('usable key', keyId);
      return made;
    },
  };
}

const longestName = 127;

/** Makes a key; storing it is the caller's part. */
export function newKey(deps: Pick<ProjectsDeps, 'clock' | 'newId'>, wish: KeyWish): NewKey {
  const key = makeApiKey();
  const stored: StoredKey = {
    id: deps.newId('key'),
    projectId: wish.projectId,
    name: wish.name,
    hash: hashApiKey(key),
    hint: key.slice(-4),
    scopes: [...new Set(wish.scopes)],
    createdAt: deps.clock.now(),
    expiresAt: wish.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
  return { stored, key: new Secret(key) };
}
