import type { DeletedCount } from '@quartermaster/contract';
import { type AuditFact, serviceSource } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { PeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import { Counter } from '../../platform/metrics.ts';

/** The deletion of a project, and its report. Times are in milliseconds. */
export interface ProjectDeletion {
  readonly projectId: string;
  readonly name: string;
  readonly begunAt: number;
  /** null until everything is deleted. */
  readonly endedAt: number | null;
  /** Number of transactions so far. */
  readonly steps: number;
  readonly deleted: Readonly<Record<DeletedCount, number>>;
}

/** What deletes the rows and the bytes of a project. */
export interface EraseOptions {
  /** Erases stored bytes. Resolves also when they are missing. */
  readonly eraseBlob: (blobId: string) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** How long connections of end users may be revoked at their providers before their rows are deleted. */
  readonly revocationMs?: number;
}

export interface ProjectDeletionRepository {
  /**
   * Begins the deletion: revokes the keys and frees the name. From its commit on, nothing can be added to the project. A repetition returns the deletion that has
   * begun.
   * @returns undefined when there is no such project
   */
  begin(projectId: string, now: number): Promise<ProjectDeletion | undefined>;
  /** Returns all deletions, ordered by the id of the project. */
  list(): Promise<ProjectDeletion[]>;
  /** Returns the ids of the projects whose deletion has not ended. */
  findRunning(): Promise<string[]>;
  /**
   * Deletes what belongs to the project in short transactions, until nothing is left. It continues a deletion that was interrupted, and two may
   * run at the same time.
   */
  erase(projectId: string, options: EraseOptions): Promise<ProjectDeletion>;
}

/** Describes the end of a deletion for the audit log. It is one event, also when a command and a service delete together. */
export function deletionFact({ projectId, steps, deleted }: ProjectDeletion): AuditFact {
  return { action: 'project.deleted', id: projectId, projectId, details: { steps, ...deleted } };
}

export interface DeletionTaskDeps extends Pick<CommonDeps, 'audit' | 'clock' | 'logger' | 'metrics'> {
  readonly repository: Pick<ProjectDeletionRepository, 'findRunning' | 'erase'>;
  readonly eraseBlob: EraseOptions['eraseBlob'];
}

/** Milliseconds between two searches for deletions that a command or another process has begun, and the retries of a failed one. */
const pause = 5_000;

/** Creates the task that deletes projects, one after another. A failure of one does not delay the others. */
export function createDeletionTask(deps: DeletionTaskDeps): PeriodicTask {
  const { repository, eraseBlob, audit, clock, logger } = deps;
  const attempts = new Counter({
    name: 'quartermaster_project_deletions_total',
    help: 'Deletions of projects that ended (`done`), and attempts that failed and are repeated (`failed`).',
    labelNames: ['result'],
    registers: [deps.metrics],
  });
  for (const result of ['done', 'failed']) attempts.inc({ result }, 0);
  return {
    name: 'delete projects',
    pause,
    async run(signal) {
      for (const projectId of await repository.findRunning()) {
        try {
          const deletion = await repository.erase(projectId, { eraseBlob, now: clock.now, signal });
          attempts.inc({ result: 'done' });
          await audit.record(serviceSource, deletionFact(deletion), deletion.begunAt);
        } catch (error) {
          signal.throwIfAborted();
          attempts.inc({ result: 'failed' });
          logger.error({ err: error, project: projectId, retry_ms: pause }, 'project deletion failed');
        }
      }
    },
  };
}
