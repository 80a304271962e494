import { type ApiKey, defaultScopes } from '@quartermaster/contract';
import { projectOperations } from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import type { Rates } from '../../platform/admission/rates.ts';
import type { Clock } from '../../platform/clock.ts';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Manager } from '../../platform/http/guard.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import { objectNotFound } from '../../platform/problem.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import { assertAdministrator, type DeletionRoutesDeps, deletionRoutes } from './deletion-routes.ts';
import type { StoredKey, Project as StoredProject } from './project-repository.ts';
import type { NewKey, Projects } from './projects.ts';
import { type RateLimitRoutesDeps, rateLimitRoutes, rateStatesToWire } from './rate-limit-routes.ts';

export interface ProjectRoutesDeps extends DeletionRoutesDeps, RateLimitRoutesDeps {
  readonly projects: Projects;
  readonly rates: Pick<Rates, 'listStates'>;
}

/**
 * Registers the routes of projects and keys, for administrators and for keys of scope `admin`. Source: docs/contract.md
 * "Keys".
 */
export function projectRoutes(app: App, deps: ProjectRoutesDeps): void {
  ownKeyRoute(app, deps);
  projectListRoutes(app, deps);
  deletionRoutes(app, deps);
  keyListRoutes(app, deps);
  keyRoutes(app, deps);
  rateLimitRoutes(app, deps);
}

/** Tells the holder of a key what it may do. */
function ownKeyRoute(app: App, { guard, projects, rates, clock }: ProjectRoutesDeps): void {
  app.get('/v1/key', { onRequest: guard.hasKey, schema: projectOperations.getOwnKey }, async (request) => {
    const { projectId, keyId, permissions } = guard.keyOf(request);
    const key = keyToWire(await projects.findKey(projectId, keyId), clock.now(), { permissions });
    const states = await rates.listStates({ projectId, keyId });
    return successEnvelope({ ...key, rate_limits: rateStatesToWire(states, permissions) });
  });
}

function projectListRoutes(app: App, { guard, projects }: ProjectRoutesDeps): void {
  app.get('/v1/projects', { onRequest: guard.sees, schema: projectOperations.listProjects }, async (request) => {
    const ids = guard.projectsOf(request);
    const visible = (await projects.listProjects()).filter(({ id }) => ids?.has(id) ?? true);
    return pageOf(visible, request.query, { kind: 'project', toWire: projectToWire });
  });
  app.post('/v1/projects', { onRequest: guard.manages, schema: projectOperations.createProject }, async (request) => {
    assertAdministrator(guard.managerOf(request));
    const project = await projects.createProject(request.body.name, request);
    return successEnvelope(projectToWire(project));
  });
}

function keyListRoutes(app: App, { guard, projects, clock }: ProjectRoutesDeps): void {
  const onRequest = guard.manages;
  const url = '/v1/projects/:project_id/keys';
  app.get(url, { onRequest, schema: projectOperations.listKeys }, async (request) => {
    const manager = guard.managerOf(request);
    const projectId = managedProject(manager, request);
    const now = clock.now();
    const page = await projects.pageOfKeys(projectId, request.query);
    return listEnvelope({ ...page, items: page.items.map((key) => keyToWire(key, now, manager)) });
  });
  app.post(url, { onRequest, schema: projectOperations.createKey }, async (request) => {
    const manager = guard.managerOf(request);
    const projectId = managedProject(manager, request);
    const { name, scopes = defaultScopes, expires_timestamp: expiresAt = null, collections, tools } = request.body;
    if (expiresAt !== null && expiresAt <= clock.now()) {
      throw fieldInvalid('body/expires_timestamp', 'a time in the past', 'a time in the future');
    }
    const wanted = {
      projectId,
      name,
      scopes,
      expiresAt,
      makerId: manager.keyId,
      collections: collections ?? null,
      tools: tools ?? null,
    };
    const created = await projects.createKey(wanted, request);
    return successEnvelope(newKeyToWire(created, clock, manager));
  });
}

function keyRoutes(app: App, { guard, projects, keyRing, clock }: ProjectRoutesDeps): void {
  const onRequest = guard.manages;
  const url = '/v1/projects/:project_id/keys/:key_id';
  app.post(`${url}/rotate`, { onRequest, schema: projectOperations.rotateKey }, async (request) => {
    const manager = guard.managerOf(request);
    const key = await managedKey(projects, manager, request);
    const created = await projects.rotateKey(
      key.id,
      (request.body.overlap_seconds ?? 0) * 1000,
      manager.keyId,
      request,
    );
    await keyRing.refresh();
    return successEnvelope(newKeyToWire(created, clock, manager));
  });
  app.delete(url, { onRequest, schema: projectOperations.revokeKey }, async (request) => {
    const key = await managedKey(projects, guard.managerOf(request), request);
    const withDescendants = request.query.descendants === true;
    await projects.revokeKey(key.id, { withDescendants }, request);
    await keyRing.refresh();
    return acknowledgement;
  });
}

function mayManage(manager: Manager, projectId: string): boolean {
  return manager.projectId === null || manager.projectId === projectId;
}

/** Returns the same error for another project as for a missing one. */
function managedProject(manager: Manager, request: FastifyRequest): string {
  const { project_id } = request.params as { project_id: string }; // every route here has it in its schema
  if (!mayManage(manager, project_id)) throw objectNotFound('project', project_id);
  return project_id;
}

async function managedKey(projects: Projects, manager: Manager, request: FastifyRequest) {
  const projectId = managedProject(manager, request);
  const { key_id } = request.params as { key_id: string }; // every caller's route has it in its schema
  return await projects.findKey(projectId, key_id);
}

function projectToWire({ id, name, createdAt }: StoredProject) {
  return { object: 'Project' as const, project_id: id, name, created_timestamp: createdAt };
}

function newKeyToWire({ stored, key }: NewKey, clock: Clock, reader: Reader) {
  return { ...keyToWire(stored, clock.now(), reader), key: key.reveal() };
}

type Reader = Pick<Manager, 'permissions'>;

/** Converts a key for lists, which show only the last characters of its text. */
function keyToWire(key: StoredKey, now: number, { permissions }: Reader): ApiKey {
  const { collections, tools } = permissions.visiblePart(key);
  const isOver = key.expiresAt !== null && key.expiresAt <= now;
  return {
    object: 'ApiKey',
    key_id: key.id,
    project_id: key.projectId,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    state: key.revokedAt !== null ? 'revoked' : isOver ? 'expired' : 'active',
    created_timestamp: key.createdAt,
    expires_timestamp: key.expiresAt,
    revoked_timestamp: key.revokedAt,
    last_used_timestamp: key.lastUsedAt,
    maker_key_id: key.makerId,
    collections: collections === null ? null : [...collections],
    tools: tools === null ? null : [...tools],
  };
}
