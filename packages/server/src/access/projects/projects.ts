import type { ListQuery, Scope } from '@quartermaster/contract';
import { checkName } from '../../kernel/check-name.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CountExceeded } from '../../kernel/concurrency/limit-counter.ts';
import type { NewId } from '../../kernel/identifier.ts';
import type { Page } from '../../kernel/page.ts';
import { cursorsConflict, objectNotFound, type Problem } from '../../kernel/problem.ts';
import { Secret } from '../../kernel/secret.ts';
import { createApiKey, hashApiKey } from '../keys/api-key.ts';
import { apiKeyRejected, keyOutlivesItsMaker, projectNameTaken, tooManyKeys, tooManyProjects } from './problems.ts';
import type { Project, ProjectRepository, RunInputs, StoredKey } from './project-repository.ts';

/** A key that was just made: the only time its text exists. */
export interface NewKey {
  readonly stored: StoredKey;
  readonly key: Secret;
}

export interface KeyRequest {
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds; null: does not expire. */
  readonly expiresAt: number | null;
  /** The key that creates it, which it does not outlive; null or absent: an administrator or the command line. */
  readonly makerId?: string | null;
}

/** Managing projects and keys. Every function throws OBJECT_NOT_FOUND for ids that do not exist. */
export interface Projects {
  createProject(name: string): Promise<Project>;
  listProjects(): Promise<Project[]>;
  /** Whether the records of its runs hold inputs, from a few seconds later on. */
  setRunInputs(projectId: string, runInputs: RunInputs): Promise<void>;
  createKey(wish: KeyRequest): Promise<NewKey>;
  listKeys(projectId?: string): Promise<StoredKey[]>;
  /** One page of the keys of a project. */
  pageOfKeys(projectId: string, query: ListQuery): Promise<Page<StoredKey>>;
  /** A key of that project. */
  findKey(projectId: string, keyId: string): Promise<StoredKey>;
  /** With descendants also the keys that it created, directly or by way of others. @returns ids of the revoked keys. */
  revokeKey(keyId: string, options?: { readonly withDescendants?: boolean }): Promise<string[]>;
  /** How many usable keys the key created, directly or by way of others. */
  countDescendants(keyId: string): Promise<number>;
  /** A new key with the same name, scopes and expiry; the old one works for `overlapMs` more. */
  rotateKey(keyId: string, overlapMs: number, makerId?: string | null): Promise<NewKey>;
}

export interface ProjectsDeps {
  readonly repository: ProjectRepository;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly countExceeded?: CountExceeded;
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

  async function findKey(projectId: string, keyId: string): Promise<StoredKey> {
    const key = await getKey(keyId);
    if (key.projectId !== projectId) throw objectNotFound('key', keyId);
    return key;
  }

  /** When the key that creates another one ends; null: never. */
  async function endOf(makerId: string | null | undefined): Promise<number | null> {
    return typeof makerId === 'string' ? (await getKey(makerId)).expiresAt : null;
  }
  /** A maker that was revoked while it created the key: its descendants may have been revoked before the key existed. */
  async function withdrawOrphan({ id, makerId }: StoredKey): Promise<void> {
    if (makerId === null || (await getKey(makerId)).revokedAt === null) return;
    await repository.revokeKey(id, clock.now(), false);
    throw apiKeyRejected();
  }
  function refuseMore(limit: string, problem: Problem): never {
    deps.countExceeded?.(limit);
    throw problem;
  }
  const refuseKey = () => refuseMore('keys_of_project', tooManyKeys(maxUsableKeys));

  return {
    createProject: async (name) => {
      checkName(name, longestName);
      const project = { id: newId('project'), name, createdAt: clock.now() };
      const outcome = await repository.addProject(project, { most: maxProjects });
      if (outcome === 'taken') throw projectNameTaken(name);
      if (outcome === 'full') refuseMore('projects_of_installation', tooManyProjects(maxProjects));
      return project;
    },
    listProjects: () => repository.listProjects(),
    setRunInputs: async (projectId, runInputs) => {
      if (!(await repository.setRunInputs(projectId, runInputs))) throw objectNotFound('project', projectId);
    },
    createKey: async (wish) => {
      checkName(wish.name, longestName);
      await getProject(wish.projectId);
      const endsAt = await endOf(wish.makerId);
      if (endsAt !== null && wish.expiresAt !== null && wish.expiresAt > endsAt) throw keyOutlivesItsMaker(endsAt);
      const made = newKey(deps, { ...wish, expiresAt: wish.expiresAt ?? endsAt });
      if (!(await repository.addKey(made.stored, { now: clock.now(), most: maxUsableKeys }))) refuseKey();
      await withdrawOrphan(made.stored);
      return made;
    },
    listKeys: async (projectId) => {
      if (projectId !== undefined) await getProject(projectId);
      return repository.listKeys(projectId);
    },
    pageOfKeys: async (projectId, query) => {
      await getProject(projectId);
      if (query.after !== undefined && query.before !== undefined) throw cursorsConflict();
      const cursor = query.after ?? query.before;
      if (cursor !== undefined) await findKey(projectId, cursor);
      return await repository.pageOfKeys(projectId, query);
    },
    findKey,
    revokeKey: async (keyId, { withDescendants = false } = {}) => {
      await getKey(keyId);
      return repository.revokeKey(keyId, clock.now(), withDescendants);
    },
    countDescendants: (keyId) => repository.countDescendants(keyId, clock.now()),
    rotateKey: async (keyId, overlapMs, makerId = null) => {
      const old = await getKey(keyId);
      const isOver = old.expiresAt !== null && old.expiresAt <= clock.now();
      if (old.revokedAt !== null || isOver) throw objectNotFound('usable key', keyId);
      const ends = [old.expiresAt, await endOf(makerId)].filter((end) => end !== null);
      // Without another maker it stays a descendant of the key that created the old one.
      const wish = { ...old, makerId: makerId ?? old.makerId };
      const made = newKey(deps, { ...wish, expiresAt: ends.length === 0 ? null : Math.min(...ends) });
      const now = clock.now();
      const bound = { now, oldEndsAt: now + overlapMs, most: maxUsableKeys };
      const outcome = await repository.replaceKey(old, made.stored, bound);
      if (outcome === 'full') refuseKey();
      if (outcome === 'ended') throw objectNotFound('usable key', keyId);
      if (made.stored.makerId === makerId) await withdrawOrphan(made.stored);
      return made;
    },
  };
}

const longestName = 127;
/** Of one installation. */
export const maxProjects = 10_000;
/** Of one project. Source: docs/contract.md "Keys". */
export const maxUsableKeys = 1_000;

/** Makes a key; storing it is the caller's part. */
export function newKey(deps: Pick<ProjectsDeps, 'clock' | 'newId'>, wish: KeyRequest): NewKey {
  const key = createApiKey();
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
    makerId: wish.makerId ?? null,
  };
  return { stored, key: new Secret(key) };
}
