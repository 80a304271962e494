import type { Run, RunItem, RunProgress } from '@quartermaster/contract';
import type { StoredResult, StoredRun } from './run-repository.ts';

/** Converts a run to an item of a list. */
export function toRunItem(run: StoredRun): RunItem {
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
    created_timestamp: run.createdAt,
    duration_ms: end?.durationMs ?? null,
    phases: end?.phases ?? null,
  };
}

export interface RunMoment {
  readonly progress?: RunProgress | null;
  readonly result?: StoredResult | undefined;
}

/** Converts a run to its full representation. */
export function toRun(run: StoredRun, { progress = null, result }: RunMoment): Run {
  const { end } = run;
  return {
    ...toRunItem(run),
    progress,
    error: end?.error ?? null,
    output_violations: end?.violations ?? 0,
    egress: [...(end?.egress ?? [])],
    egress_left_out: end?.egressLeftOut ?? 0,
    input_params: end?.input ?? null,
    result: result?.result ?? null,
    result_expires_timestamp: result?.expiresAt ?? null,
  };
}
