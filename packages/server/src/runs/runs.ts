import type { Run, RunItem, RunQuery } from '@quartermaster/contract';
import type { Clock } from '../kernel/clock.ts';
import { isId } from '../kernel/identifier.ts';
import { fieldInvalid, objectNotFound } from '../kernel/problem.ts';
import { toRun, toRunItem } from './run-items.ts';
import type { RunRecorder } from './run-recorder.ts';
import type { RunRepository } from './run-repository.ts';

/** The runs of a project, for whoever asks about them. */
export interface Runs {
  list(projectId: string, query: RunQuery): Promise<{ readonly items: readonly RunItem[]; readonly hasMore: boolean }>;
  /** @throws OBJECT_NOT_FOUND */
  get(projectId: string, runId: string): Promise<Run>;
}

export interface RunsDeps {
  readonly repository: RunRepository;
  readonly recorder: RunRecorder;
  readonly clock: Clock;
}

export function createRuns({ repository, recorder, clock }: RunsDeps): Runs {
  return {
    list: async (projectId, query) => {
      checkCursors(query);
      // Before the database is asked: a run that is stored in between is found there.
      const recent = recorder.recent(projectId);
      const { items, hasMore } = await repository.list(projectId, query, recent);
      return { items: items.map((run) => toRunItem(run)), hasMore };
    },
    get: async (projectId, runId) => {
      const recent = recorder.findRecent(projectId, runId);
      const run = recent?.end == null ? ((await repository.find(projectId, runId)) ?? recent) : recent;
      if (run === undefined) throw objectNotFound('run', runId);
      const hasResult = run.asynchronous && run.end !== null;
      const result = hasResult ? await repository.findResult(projectId, runId, clock.now()) : undefined;
      return toRun(run, { result });
    },
  };
}

/** A cursor needs to be no run that is still kept: runs are deleted while somebody turns the pages. */
function checkCursors({ after, before }: RunQuery): void {
  if (after !== undefined && before !== undefined) throw fieldInvalid('query', 'both after and before', 'one of them');
  for (const [name, cursor] of Object.entries({ after, before })) {
    if (cursor !== undefined && !isId(cursor))
      throw fieldInvalid(`query/${name}`, JSON.stringify(cursor), 'the id of a run');
  }
}
