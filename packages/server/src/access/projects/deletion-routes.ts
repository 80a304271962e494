import type { ProjectDeletion } from '@quartermaster/contract';
import { projectOperations } from '@quartermaster/contract/operations';
import type { Clock } from '../../platform/clock.ts';
import { successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Manager, ManagerGuard } from '../../platform/http/guard.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type { KeyRing } from './key-ring.ts';
import { onlyAdministrators } from './problems.ts';
import type { ProjectDeletionRepository, ProjectDeletion as StoredDeletion } from './project-deletions.ts';

export interface DeletionRoutesDeps {
  readonly deletions: Pick<ProjectDeletionRepository, 'begin' | 'list'>;
  /** Starts the work of a deletion that has begun. */
  readonly onDeleting: () => void;
  readonly keyRing: Pick<KeyRing, 'refresh'>;
  readonly guard: ManagerGuard;
  readonly clock: Clock;
}

/** Registers the routes that delete projects, for administrators only. */
export function deletionRoutes(app: App, { guard, keyRing, clock, deletions, onDeleting }: DeletionRoutesDeps): void {
  const onRequest = guard.manages;
  app.delete('/v1/projects/:project_id', { onRequest, schema: projectOperations.deleteProject }, async (request) => {
    assertAdministrator(guard.managerOf(request));
    const { project_id: projectId } = request.params;
    const deletion = await deletions.begin(projectId, clock.now());
    if (deletion === undefined) throw objectNotFound('project', projectId);
    await keyRing.refresh();
    onDeleting();
    await request.server.audit.record(request, { action: 'project.deletion_begun', id: projectId, projectId });
    return successEnvelope(deletionToWire(deletion));
  });
  app.get('/v1/project_deletions', { onRequest, schema: projectOperations.listProjectDeletions }, async (request) => {
    assertAdministrator(guard.managerOf(request));
    const all = (await deletions.list()).map((deletion) => ({ ...deletion, id: deletion.projectId }));
    return pageOf(all, request.query, { kind: 'project', toWire: deletionToWire });
  });
}

/** @throws Problem PERMISSION_DENIED for a key */
export function assertAdministrator({ projectId }: Manager): void {
  if (projectId !== null) throw onlyAdministrators();
}

function deletionToWire(deletion: StoredDeletion): ProjectDeletion {
  return {
    object: 'ProjectDeletion',
    project_id: deletion.projectId,
    name: deletion.name,
    state: deletion.endedAt === null ? 'running' : 'done',
    begun_timestamp: deletion.begunAt,
    ended_timestamp: deletion.endedAt,
    steps: deletion.steps,
    deleted: { ...deletion.deleted },
  };
}
