import type { ListQuery } from '@quartermaster/contract';
import { type AuditBy, type AuditFact, commandSource } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import { checkCursor } from '../../platform/list-cursors.ts';
import type { Page } from '../../platform/page.ts';
import { createPermissions, type Grant } from '../../platform/permissions.ts';
import { objectNotFound, type Problem } from '../../platform/problem.ts';
import { Secret } from '../../platform/secret.ts';
import { checkName } from '../../platform/validation/check-name.ts';
import { createApiKey, hashApiKey } from './api-key.ts';
import {
  apiKeyRejected,
  keyOutlivesItsMaker,
  limitNotOwned,
  projectNameTaken,
  rotationNotOwned,
  scopeNotOwned,
  tooManyKeys,
  tooManyProjects,
} from './problems.ts';
import type { Project, ProjectRepository, RunInputs, StoredKey } from './project-repository.ts';

/** A new key. Its text exists only here. */
export interface NewKey {
  readonly stored: StoredKey;
  readonly key: Secret;
}

export interface KeyRequest extends Pick<Grant, 'scopes'> {
  readonly projectId: string;
  readonly name: string;
  /** Milliseconds; null when the key does not expire. */
  readonly expiresAt: number | null;
  /** The key that creates it and limits its expiry; null or absent for an administrator or the command line. */
  readonly makerId?: string | null;
  /** Null or absent: those of the key that creates it, otherwise all. */
  readonly collections?: Grant['collections'];
  /** As `collections`. */
  readonly tools?: Grant['tools'];
  readonly replaced?: StoredKey['replaced'];
}

/** Manages projects and keys. `by` is the caller, a command by default. Every function throws OBJECT_NOT_FOUND for ids that do not exist. */
export interface Projects {
  createProject(name: string, by?: AuditBy): Promise<Project>;
  listProjects(): Promise<Project[]>;
  /** Sets whether the records of its runs contain inputs. The change takes effect within a few seconds. */
  setRunInputs(projectId: string, runInputs: RunInputs): Promise<void>;
  createKey(request: KeyRequest, by?: AuditBy): Promise<NewKey>;
  listKeys(projectId?: string): Promise<StoredKey[]>;
  /** Returns one page of the keys of a project. */
  pageOfKeys(projectId: string, query: ListQuery): Promise<Page<StoredKey>>;
  /** Returns a key of that project. */
  findKey(projectId: string, keyId: string): Promise<StoredKey>;
  /**
   * Revokes a key and, with `withDescendants`, the keys that it created, directly or indirectly.
   * @returns ids of the revoked keys
   */
  revokeKey(keyId: string, options?: { readonly withDescendants?: boolean }, by?: AuditBy): Promise<string[]>;
  /** Counts the usable keys that the key created, directly or indirectly. */
  countDescendants(keyId: string): Promise<number>;
  /**
   * Creates a key with the same name, permissions and expiry, which owns the uploads of the old one. The old key works for
   * `overlapMs` longer.
   */
  rotateKey(keyId: string, overlapMs: number, makerId?: string | null, by?: AuditBy): Promise<NewKey>;
}

export interface ProjectsDeps extends Pick<CommonDeps, 'audit' | 'clock' | 'newId'> {
  readonly repository: ProjectRepository;
  readonly countExceeded?: CountExceeded;
}

export function createProjects(deps: ProjectsDeps): Projects {
  const { audit, repository, clock, newId } = deps;

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

  const findMaker = async (id: string | null | undefined) => (typeof id === 'string' ? await getKey(id) : undefined);

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
    createProject: async (name, by = commandSource()) => {
      checkName(name, longestName);
      const project = { id: newId('project'), name, createdAt: clock.now() };
      const outcome = await repository.addProject(project, { most: maxProjects });
      if (outcome === 'taken') throw projectNameTaken(name);
      if (outcome === 'full') refuseMore('projects_of_installation', tooManyProjects(maxProjects));
      await audit.record(by, { action: 'project.created', id: project.id, projectId: project.id, details: { name } });
      return project;
    },
    listProjects: () => repository.listProjects(),
    setRunInputs: async (projectId, runInputs) => {
      if (!(await repository.setRunInputs(projectId, runInputs))) throw objectNotFound('project', projectId);
    },
    createKey: async (request, by = commandSource()) => {
      checkName(request.name, longestName);
      await getProject(request.projectId);
      const bounds = keepBounds(request, await findMaker(request.makerId));
      await checkCollections(repository, request.projectId, bounds);
      const created = newKey(deps, { ...request, ...bounds });
      if (!(await repository.addKey(created.stored, { now: clock.now(), most: maxUsableKeys }))) refuseKey();
      await withdrawOrphan(created.stored);
      await audit.record(by, keyFact('key.created', created.stored));
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
    revokeKey: async (keyId, { withDescendants = false } = {}, by = commandSource()) => {
      const key = await getKey(keyId);
      const revoked = await repository.revokeKey(keyId, clock.now(), withDescendants);
      await audit.record(by, revokedFact(key, revoked), key.revokedAt ?? undefined);
      return revoked;
    },
    countDescendants: (keyId) => repository.countDescendants(keyId, clock.now()),
    rotateKey: async (keyId, overlapMs, makerId = null, by = commandSource()) => {
      const old = await getKey(keyId);
      const isOver = old.expiresAt !== null && old.expiresAt <= clock.now();
      if (old.revokedAt !== null || isOver) throw objectNotFound('usable key', keyId);
      const maker = await findMaker(makerId);
      const beyond = maker && createPermissions(maker).findBeyond(old);
      if (beyond !== undefined) throw beyond.what === 'scope' ? scopeNotOwned(beyond.name) : rotationNotOwned();
      const ends = [old.expiresAt, maker?.expiresAt ?? null].filter((end) => end !== null);
      // Without another creator, the new key stays a descendant of the key that created the old one.
      const request = { ...old, replaced: replacedBy(old), makerId: makerId ?? old.makerId };
      const created = newKey(deps, { ...request, expiresAt: ends.length === 0 ? null : Math.min(...ends) });
      const now = clock.now();
      const bound = { now, oldEndsAt: now + overlapMs, most: maxUsableKeys };
      const outcome = await repository.replaceKey(old, created.stored, bound);
      if (outcome === 'full') refuseKey();
      if (outcome === 'ended') throw objectNotFound('usable key', keyId);
      if (created.stored.makerId === makerId) await withdrawOrphan(created.stored);
      await audit.record(by, keyFact('key.rotated', created.stored, { replaced_key_id: keyId }));
      return created;
    },
  };
}

/**
 * Returns the end and the permissions of a new key. Values that the request omits are inherited from its creator.
 * @throws Problem when the key would outlive its creator or may do more
 */
function keepBounds({ expiresAt, scopes, ...request }: KeyRequest, maker: StoredKey | undefined) {
  const end = maker?.expiresAt ?? null;
  if (end !== null && expiresAt !== null && expiresAt > end) throw keyOutlivesItsMaker(end);
  const collections = request.collections ?? maker?.collections ?? null;
  const tools = request.tools ?? maker?.tools ?? null;
  const beyond = maker && createPermissions(maker).findBeyond({ scopes, collections, tools });
  if (beyond?.what === 'scope') throw scopeNotOwned(beyond.name);
  if (beyond !== undefined) throw limitNotOwned(beyond.what, beyond.name);
  return { scopes, collections, tools, expiresAt: expiresAt ?? end };
}

/** @throws Problem OBJECT_NOT_FOUND for a collection that the project does not have */
async function checkCollections(
  repository: ProjectRepository,
  projectId: string,
  { collections }: Grant,
): Promise<void> {
  if (collections === null) return;
  const found = new Set(await repository.findCollections(projectId, collections));
  const missing = collections.find((id) => !found.has(id));
  if (missing !== undefined) throw objectNotFound('collection', missing);
}

const longestName = 127;
/** The maximum number in one installation. */
export const maxProjects = 10_000;
/** The maximum number in one project. Source: docs/contract.md "Keys". */
const maxUsableKeys = 1_000;
/** The number of replaced keys whose uploads a key owns: one rotation a month for eight years. */
const mostReplaced = 100;

/** Returns the keys that the successor of a key replaces. */
function replacedBy({ id, replaced }: StoredKey): string[] {
  return [id, ...replaced].slice(0, mostReplaced);
}

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
    collections: request.collections == null ? null : [...new Set(request.collections)],
    tools: request.tools == null ? null : [...new Set(request.tools)],
    replaced: request.replaced ?? [],
  };
  return { stored, key: new Secret(key) };
}

/** Describes a change of a key for the audit log. */
function keyFact(action: AuditFact['action'], key: StoredKey, details: AuditFact['details'] = {}): AuditFact {
  const { id, projectId, name, scopes, collections, tools, expiresAt } = key;
  const facts = { name, scopes, collections, tools, expires_timestamp: expiresAt };
  return { action, id, projectId, details: { ...facts, ...details } };
}

function revokedFact(key: StoredKey, revoked: readonly string[]): AuditFact {
  return keyFact('key.revoked', key, { descendants: revoked.filter((id) => id !== key.id) });
}
