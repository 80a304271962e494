import type { ListQuery, Scope } from '@quartermaster/contract';
import type { Clock } from '../../platform/clock.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { NewId } from '../../platform/identifier.ts';
import { checkName, findBeyond } from '../../platform/key-tools.ts';
import { checkCursor } from '../../platform/list-cursors.ts';
import type { Page } from '../../platform/page.ts';
import { objectNotFound, type Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { Secret } from '../../platform/secret.ts';
import { createApiKey, hashApiKey } from './api-key.ts';
import {
  apiKeyRejected,
  keyOutlivesItsMaker,
  projectNameTaken,
  toolNotOwned,
  tooManyKeys,
  tooManyProjects,
} from './problems.ts';
import type { Project, ProjectRepository, RunInputs, StoredKey } from './project-repository.ts';

/** A new key. Its text exists only here. */
export interface NewKey {
  readonly stored: StoredKey;
  readonly key: Secret;
}

export interface KeyRequest {
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds; null when the key does not expire. */
  readonly expiresAt: number | null;
  /** The key that creates it and limits its expiry; null or absent for an administrator or the command line. */
  readonly makerId?: string | null;
  /** The bundles and plugins that it may run. Null or absent: those of the key that creates it, otherwise all. */
  readonly tools?: readonly string[] | null;
}

/** Manages projects and keys. Every function throws OBJECT_NOT_FOUND for ids that do not exist. */
export interface Projects {
  createProject(name: string): Promise<Project>;
  listProjects(): Promise<Project[]>;
  /** Sets whether the records of its runs contain inputs. The change takes effect within a few seconds. */
  setRunInputs(projectId: string, runInputs: RunInputs): Promise<void>;
  createKey(request: KeyRequest): Promise<NewKey>;
  listKeys(projectId?: string): Promise<StoredKey[]>;
  /** Returns one page of the keys of a project. */
  pageOfKeys(projectId: string, query: ListQuery): Promise<Page<StoredKey>>;
  /** Returns a key of that project. */
  findKey(projectId: string, keyId: string): Promise<StoredKey>;
  /**
   * Revokes a key and, with `withDescendants`, the keys that it created, directly or indirectly.
   * @returns ids of the revoked keys
   */
  revokeKey(keyId: string, options?: { readonly withDescendants?: boolean }): Promise<string[]>;
  /** Counts the usable keys that the key created, directly or indirectly. */
  countDescendants(keyId: string): Promise<number>;
  /** Creates a key with the same name, scopes and expiry. The old key works for `overlapMs` longer. */
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

  /** Returns when the creating key ends (null: never) and which plugins it may run (null: all). */
  async function boundsOf(makerId: string | null | undefined): Promise<Pick<StoredKey, 'expiresAt' | 'tools'>> {
    return typeof makerId === 'string' ? await getKey(makerId) : { expiresAt: null, tools: null };
  }
  /**
   * Revokes a key whose creator was revoked in the meantime, because the creator's descendants may have been revoked before
   * the key existed.
   */
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
    createKey: async (request) => {
      checkName(request.name, longestName);
      await getProject(request.projectId);
      const bounds = keepBounds(request, await boundsOf(request.makerId));
      const created = newKey(deps, { ...request, ...bounds });
      if (!(await repository.addKey(created.stored, { now: clock.now(), most: maxUsableKeys }))) refuseKey();
      await withdrawOrphan(created.stored);
      return created;
    },
    listKeys: async (projectId) => {
      if (projectId !== undefined) await getProject(projectId);
      return repository.listKeys(projectId);
    },
    pageOfKeys: async (projectId, query) => {
      await getProject(projectId);
      return await repository.pageOfKeys(projectId, checkCursor(query, 'key'));
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
      const maker = await boundsOf(makerId);
      checkTools(maker.tools, old.tools);
      const ends = [old.expiresAt, maker.expiresAt].filter((end) => end !== null);
      // Without another creator, the new key stays a descendant of the key that created the old one.
      const request = { ...old, makerId: makerId ?? old.makerId };
      const created = newKey(deps, { ...request, expiresAt: ends.length === 0 ? null : Math.min(...ends) });
      const now = clock.now();
      const bound = { now, oldEndsAt: now + overlapMs, most: maxUsableKeys };
      const outcome = await repository.replaceKey(old, created.stored, bound);
      if (outcome === 'full') refuseKey();
      if (outcome === 'ended') throw objectNotFound('usable key', keyId);
      if (created.stored.makerId === makerId) await withdrawOrphan(created.stored);
      return created;
    },
  };
}

/**
 * Returns the end and the plugins of a new key. Values that the request omits are inherited from its creator.
 * @throws Problem when the key would outlive its creator or may run more plugins
 */
function keepBounds({ expiresAt, tools }: KeyRequest, maker: Pick<StoredKey, 'expiresAt' | 'tools'>) {
  if (maker.expiresAt !== null && expiresAt !== null && expiresAt > maker.expiresAt) {
    throw keyOutlivesItsMaker(maker.expiresAt);
  }
  const allowed = tools ?? maker.tools;
  checkTools(maker.tools, allowed);
  return { expiresAt: expiresAt ?? maker.expiresAt, tools: allowed };
}

/**
 * A key must not create a key that may run more plugins than itself.
 * @throws Problem PERMISSION_DENIED
 */
function checkTools(makers: StoredKey['tools'], wanted: StoredKey['tools']): void {
  if (makers === null) return;
  if (wanted === null) throw toolNotOwned('every plugin');
  const beyond = findBeyond(new Set(makers), wanted);
  if (beyond !== undefined) throw toolNotOwned(quoteText(beyond));
}

const longestName = 127;
/** The maximum number in one installation. */
export const maxProjects = 10_000;
/** The maximum number in one project. Source: docs/contract.md "Keys". */
const maxUsableKeys = 1_000;

/**
 * Creates a key without storing it.
 * @param chosen the text of the key instead of a new one
 */
export function newKey(deps: Pick<ProjectsDeps, 'clock' | 'newId'>, request: KeyRequest, chosen?: Secret): NewKey {
  const key = chosen?.reveal() ?? createApiKey();
  const stored: StoredKey = {
    id: deps.newId('key'),
    projectId: request.projectId,
    name: request.name,
    hash: hashApiKey(key),
    hint: key.slice(-4),
    scopes: [...new Set(request.scopes)],
    createdAt: deps.clock.now(),
    expiresAt: request.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
    makerId: request.makerId ?? null,
    tools: request.tools == null ? null : [...new Set(request.tools)],
  };
  return { stored, key: new Secret(key) };
}
