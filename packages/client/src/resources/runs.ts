import type { QueryOf } from '../create-api.ts';
import { QuartermasterError } from '../errors.ts';
import type { PluginsApi, Run, RunItem, RunProgress } from '../generated/plugins-api.ts';
import type { ServerEvent } from '../server-events.ts';
import type { ApiRequest } from '../transport/api-request.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';
import { type WaitOptions, waitUntilSettled } from '../wait.ts';

/** The state of a run, or only its progress. */
export type RunState = RunItem | { readonly progress: RunProgress };

export type RunWaitOptions = WaitOptions<RunState>;

/** A request that starts a run. */
export type RunRequest = ApiRequest<Run> & {
  /** Waits until the run has succeeded. `result.data` holds the output. @throws RunFailedError, TimeoutError */
  wait(options?: RunWaitOptions): Promise<Run>;
};

/** A run that ended without success. */
export class RunFailedError extends QuartermasterError {
  override readonly name: string = 'RunFailedError';
  /** A code of docs/reference/errors.md, such as `PROVIDER_ERROR`. */
  readonly code: string;
  readonly run: Run;

  constructor(run: Run) {
    const { run_id, outcome, error } = run;
    super(`Run ${run_id} of ${run.bundle_id}/${run.plugin_id} failed: ${error?.message ?? outcome}`);
    this.code = error?.code ?? run.error_code ?? 'PLUGIN_FAILED';
    this.run = run;
  }
}

export type Runs = ReturnType<typeof createRuns>;

export function createRuns(calls: Calls<PluginsApi>) {
  const path = (runId: string) => ({ run_id: runId });

  /** Waits until a run has succeeded. @throws RunFailedError, TimeoutError */
  async function wait(runId: string, options: RunWaitOptions = {}): Promise<Run> {
    const run = await waitUntilSettled<Run, RunState>(
      {
        name: `Run ${runId}`,
        read: (signal) => calls.data('GET /v1/runs/{run_id}', { path: path(runId) }, { signal }),
        follow: (signal) =>
          calls.raw('GET /v1/runs/{run_id}/events', { path: path(runId) }, { signal, timeout: 0, maxRetries: 0 }),
        isSettled: ({ status }) => status === 'ended',
        stateOf: readState,
      },
      options,
    );
    if (run.outcome === 'succeeded') return run;
    throw new RunFailedError(run);
  }

  return {
    /** Lists runs, the newest first. */
    list: (query: QueryOf<PluginsApi, 'GET /v1/runs'> = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/runs', { query }, (run) => run.run_id, options),
    /** Returns a run; a stored one with its result or error. */
    get: (runId: string, options: RequestOptions = {}) =>
      calls.data('GET /v1/runs/{run_id}', { path: path(runId) }, options),
    /** Cancels a waiting or running run. A run that has ended stays unchanged. */
    cancel: (runId: string, options: RequestOptions = {}) =>
      calls.data('POST /v1/runs/{run_id}/cancel', { path: path(runId) }, options),
    wait,
  };
}

export function toRunRequest(request: ApiRequest<Run>, { wait }: Pick<Runs, 'wait'>): RunRequest {
  const waitForIt = async (options?: RunWaitOptions) => await wait((await request).run_id, options);
  return Object.assign(request, { wait: waitForIt });
}

function readState({ name, data }: ServerEvent): RunState | undefined {
  // The service validates both by their schemas.
  if (name === 'state') return JSON.parse(data) as RunItem;
  return name === 'progress' ? { progress: JSON.parse(data) as RunProgress } : undefined;
}
