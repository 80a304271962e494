import { setTimeout } from 'node:timers/promises';
import type { Run, RunItem, RunProgress, RunQuery } from '@quartermaster/contract';
import type { Clock } from '../../platform/clock.ts';
import { checkCursor } from '../../platform/list-cursors.ts';
import type { Page } from '../../platform/page.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type { BackgroundRuns, RunReader } from '../execution/background.ts';
import type { AsyncRuns } from './async-runs.ts';
import type { RunRepository, StoredResult, StoredRun } from './run-repository.ts';
import type { RunStore } from './run-store.ts';

/** Lists, reads and cancels the runs of a project, as far as the reader sees their plugins. */
export interface Runs extends BackgroundRuns {
  list(reader: RunReader, query: RunQuery): Promise<Page<RunItem>>;
  /**
   * Cancels a run in progress. A run that has ended stays unchanged.
   * @returns the run after that
   * @throws OBJECT_NOT_FOUND
   */
  cancel(reader: RunReader, runId: string): Promise<Run>;
}

export interface RunsDeps {
  readonly repository: RunRepository;
  readonly store: RunStore;
  readonly asyncRuns: Pick<AsyncRuns, 'accept' | 'find'>;
  readonly clock: Clock;
}

/** Milliseconds that a cancellation request waits for the end of the run, which usually comes immediately. */
const cancelWaitMs = 5_000;
/** Milliseconds between reads of a run that another process ends. */
const cancelPollMs = 250;

export function createRuns({ repository, store, asyncRuns, clock }: RunsDeps): Runs {
  async function find({ projectId, permissions }: RunReader, runId: string): Promise<StoredRun> {
    const recent = store.findRecent(projectId, runId);
    const run = recent?.end == null ? ((await repository.find(projectId, runId)) ?? recent) : recent;
    if (run === undefined || !seesRun(permissions, run)) throw objectNotFound('run', runId);
    return run;
  }

  async function get(reader: RunReader, runId: string): Promise<Run> {
    const run = await find(reader, runId);
    const { projectId } = reader;
    const hasResult = run.asynchronous && run.end !== null;
    const result = hasResult ? await repository.findResult(projectId, runId, clock.now()) : undefined;
    const progress = run.end === null ? toProgress(store.progressOf(runId)) : null;
    return toRun(run, progress, result);
  }

  /** Cancels a run of this process and waits for its end. */
  async function cancelHere(projectId: string | null, runId: string): Promise<void> {
    const accepted = asyncRuns.find(projectId, runId);
    if (accepted !== undefined) {
      accepted.cancel();
      return await withTimeout(accepted.done);
    }
    const live = store.findLive(projectId, runId);
    if (live?.caller.cancel === undefined) return;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const watch = store.watch(runId, { changed: resolve, progressed: () => {} });
    live.caller.cancel();
    await withTimeout(ended);
    watch.stop();
  }

  return {
    accept: async (request, caller) => (await asyncRuns.accept(request, caller)).id,
    get,
    list: async ({ projectId, permissions }, query) => {
      checkCursor(query, 'run');
      // Read before the database, so that a run that is stored in between is found there.
      const recent = store.recent(projectId).filter((run) => seesRun(permissions, run));
      const page = await repository.list(projectId, query, { recent, permissions });
      return { ...page, items: page.items.map((run) => toRunItem(run)) };
    },
    cancel: async (reader, runId) => {
      const { projectId } = reader;
      const waitsUntil = performance.now() + cancelWaitMs;
      await find(reader, runId);
      await cancelHere(projectId, runId);
      let run = await get(reader, runId);
      if (run.status === 'ended') return run;
      // The process that has it reads this within a second or two. It is not this one, or another one has taken the run.
      const isAsked = await repository.askToCancel(projectId, runId);
      do {
        if (isAsked) await setTimeout(cancelPollMs);
        run = await get(reader, runId);
      } while (isAsked && run.status !== 'ended' && performance.now() < waitsUntil);
      return run;
    },
  };
}

function seesRun(permissions: Permissions, { bundleId, pluginId }: StoredRun): boolean {
  return pluginId === null ? permissions.seesBundle(bundleId) : permissions.seesPlugin(bundleId, pluginId);
}

async function withTimeout(done: Promise<void>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([done, setTimeout(cancelWaitMs, undefined, { signal: enough.signal }).catch(() => {})]);
  enough.abort();
}

function toProgress(stored: ReturnType<RunStore['progressOf']>): RunProgress | null {
  return stored === null ? null : { fraction: stored.fraction, message: stored.message ?? null };
}

/** Converts a run to an item of a list. */
function toRunItem(run: StoredRun): RunItem {
  const { end } = run;
  const isQueued = run.asynchronous && run.begunAt === null;
  return {
    object: 'Run',
    run_id: run.id,
    bundle_id: run.bundleId,
    plugin_id: run.pluginId,
    origin: run.origin,
    isolation: run.isolation,
    asynchronous: run.asynchronous,
    status: end !== null ? 'ended' : isQueued ? 'queued' : 'running',
    outcome: end?.outcome ?? null,
    error_code: end?.errorCode ?? null,
    upstream_status: end?.upstreamStatus ?? null,
    output_violations: end?.violations ?? 0,
    created_timestamp: run.createdAt,
    duration_ms: end?.durationMs ?? null,
    phases: end?.phases ?? null,
  };
}

/** Converts a run to its full representation. */
function toRun(run: StoredRun, progress: RunProgress | null, result: StoredResult | undefined): Run {
  const { end } = run;
  return {
    ...toRunItem(run),
    progress,
    error: end?.error ?? null,
    egress: [...(end?.egress ?? [])],
    egress_left_out: end?.egressLeftOut ?? 0,
    input_params: end?.input ?? null,
    result: result?.result ?? null,
    result_expires_timestamp: result?.expiresAt ?? null,
  };
}
