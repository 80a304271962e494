import { randomUUID } from 'node:crypto';
import type { ResolveCredentials } from '../../access/credential-profiles/resolve-credentials.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createRunRepository } from '../../storage/repositories/run-repository.ts';
import type { Executor } from '../../tools/execution/executor.ts';
import type { RequestEncrypter } from '../../tools/runs/async-run.ts';
import { type AsyncRuns, createAsyncRuns } from '../../tools/runs/async-runs.ts';
import { createRunEvents, eventDefaults, type RunEvents } from '../../tools/runs/run-events.ts';
import type { RunRepository } from '../../tools/runs/run-repository.ts';
import { openInputKeepers, retentionTasks } from '../../tools/runs/run-retention.ts';
import { createRunStore, type RunStore } from '../../tools/runs/run-store.ts';
import { createRuns, type Runs } from '../../tools/runs/runs.ts';
import type { ServiceContext } from './context.ts';

/** The runs whose records a project keeps, and the results of asynchronous runs of all projects. */
const runBounds = { most: 100_000, resultBytes: 256 * 2 ** 20 } as const;

/** The components that observe runs and store their records. */
export interface RunServices {
  readonly runStore: RunStore;
  readonly repository: RunRepository;
  /** Whether the run records of a project include inputs. */
  readonly keepsInputs: (projectId: string) => boolean;
}

/** Open it before the components that run plugins, so that it is closed after them. */
export async function openRunServices({
  config,
  clock,
  logger,
  registry,
  database,
  resources,
  space,
}: ServiceContext): Promise<RunServices> {
  const repository = createRunRepository(database);
  const projects = createProjectRepository(database);
  const retention = startPeriodicTasks(
    retentionTasks({ repository, clock, bounds: { ...runBounds, days: config.runDays } }),
    logger,
  );
  resources.defer(() => retention.close());
  const keepers = await openInputKeepers({ find: () => projects.projectsThatKeepInputs(), logger });
  resources.defer(() => keepers.close());
  const keepsInputs = (projectId: string) => keepers.has(projectId);
  const runStore = createRunStore({ repository, keepsInputs, space, logger, metrics: registry });
  resources.defer(() => runStore.close());
  return { runStore, repository, keepsInputs };
}

export interface AsyncRunsOptions extends RunServices {
  readonly executor: Executor;
  readonly resolveCredentials: ResolveCredentials;
  readonly hasBundle: (bundleId: string) => boolean;
  readonly encrypter: RequestEncrypter | null;
}

/** Open it after the components that run plugins, so that it is closed before them. */
export function openAsyncRuns(
  { clock, logger, resources, admission, shares }: ServiceContext,
  { runStore, repository, ...options }: AsyncRunsOptions,
): { readonly runs: Runs; readonly events: RunEvents; readonly asyncRuns: AsyncRuns } {
  const asyncRuns = createAsyncRuns({
    ...{ ...options, repository, admission, clock, logger, owner: randomUUID() },
    changed: (runId) => runStore.changed(runId),
  });
  const recovery = startPeriodicTasks([asyncRuns.leaseTask], logger);
  resources.defer(() => recovery.close());
  resources.defer(() => asyncRuns.close());
  const runs = createRuns({ repository, store: runStore, asyncRuns, clock });
  return { runs, events: createRunEvents({ ...eventDefaults, runs, store: runStore, shares }), asyncRuns };
}
