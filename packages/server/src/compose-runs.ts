import { createProjectRepository } from './adapters/database/project-repository.ts';
import { createRunRepository } from './adapters/database/run-repository.ts';
import type { Base } from './compose.ts';
import { startUpkeep } from './kernel/upkeep.ts';
import { openInputKeepers } from './runs/input-keepers.ts';
import { createRunRecorder, type RunRecorder } from './runs/run-recorder.ts';
import type { RunRepository } from './runs/run-repository.ts';
import { runUpkeep } from './runs/run-upkeep.ts';
import { createRuns, type Runs } from './runs/runs.ts';

/** What keeps account of runs. */
export interface RunRoom {
  readonly recorder: RunRecorder;
  readonly repository: RunRepository;
  readonly runs: Runs;
}

/** To be opened before whatever runs plugins, so that it is closed after. */
export async function openRunRoom({ config, clock, logger, registry, database, closer }: Base): Promise<RunRoom> {
  const repository = createRunRepository(database);
  const projects = createProjectRepository(database);
  const upkeep = startUpkeep(runUpkeep({ repository, clock, bounds: config.runRetention }), logger);
  closer.add('upkeep of runs', () => upkeep.close());
  const keepers = await openInputKeepers({ find: () => projects.projectsThatKeepInputs(), logger });
  closer.add('projects that keep inputs', () => keepers.close());
  const recorder = createRunRecorder({
    repository,
    keepsInputs: (projectId) => keepers.has(projectId),
    logger,
    metrics: registry,
  });
  closer.add('records of runs', () => recorder.close());
  return { recorder, repository, runs: createRuns({ repository, recorder, clock }) };
}
