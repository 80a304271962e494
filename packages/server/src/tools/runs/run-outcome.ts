import type { RunCall } from '@quartermaster/contract';
import { Problem } from '../../platform/problem.ts';
import type { Execution } from '../execution/outcome.ts';
import { type Outcome, outcomeCodes } from '../execution/outcome.ts';
import { outcomeProblem } from '../execution/problems.ts';
import type { Run } from '../execution/run.ts';
import { milliseconds, phasesOf } from '../execution/run-timings.ts';
import type { RunEnd, RunLease, StoredRun } from './run-repository.ts';

/** The texts that a record may include. */
export interface RunRecordOptions {
  /** Whether to include error messages, in which a plugin or a third party may repeat the input. */
  readonly errorMessages: boolean;
  /** Whether to include the input. */
  readonly input: boolean;
}

/** The maximum size of an input as JSON, in bytes. A larger input is not stored. */
const maxInputBytes = 16 * 1024;

/** The redacted record of a run that has ended, without its output and credentials. */
export function endedRun(run: Run, execution: Execution, options: RunRecordOptions): StoredRun {
  return { ...underWay(run), end: toRunEnd(run, execution, options) };
}

export function toRunEnd(run: Run, { outcome, durationMs }: Execution, options: RunRecordOptions): RunEnd {
  const { trace } = run;
  const { queue, start, validate, plugin, upstream } = phasesOf(trace);
  return {
    outcome: outcome.kind,
    errorCode: outcomeCodes[outcome.kind],
    upstreamStatus: 'upstreamStatus' in outcome ? outcome.upstreamStatus : null,
    durationMs,
    phases: { queue_ms: queue, start_ms: start, validate_ms: validate, plugin_ms: plugin, upstream_ms: upstream },
    violations: outcome.kind === 'succeeded' ? outcome.violations.length : 0,
    egress: trace.calls.map(({ ms, ...call }): RunCall => ({ ...call, ms: milliseconds(ms) })),
    egressLeftOut: trace.callsLeftOut,
    error: outcome.kind === 'succeeded' ? null : describeError(outcome, run.runId, options.errorMessages),
    input: options.input ? redactedInput(run) : null,
  };
}

function describeError(
  outcome: Exclude<Outcome, { kind: 'succeeded' }>,
  runId: string,
  includesMessage: boolean,
): RunEnd['error'] {
  if (!includesMessage) {
    // The artifact has no text of the third party in its description.
    const { artifact = null } = ('answer' in outcome && outcome.answer) || {};
    const known = artifact === null ? {} : { details: [{ run_id: runId, artifact }] };
    return { code: outcomeCodes[outcome.kind], message: null, ...known };
  }
  const { code, message, details } = outcomeProblem(outcome, runId);
  return { code, message, ...(details === undefined ? {} : { details: [...details] }) };
}

/** null when the input is too large, or cannot be searched for the credentials. */
function redactedInput({ input, policy }: Run): RunEnd['input'] {
  try {
    const shown = policy.egress.redactor.deep(input);
    return Buffer.byteLength(JSON.stringify(shown)) > maxInputBytes ? null : shown;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** The record of a run in progress. A run with a lease is asynchronous and queued. */
export function underWay(run: Run, lease: RunLease | null = null): StoredRun {
  const { runId: id, caller, plugin, isolation, createdAt } = run;
  const { projectId, origin } = caller;
  const what = { bundleId: run.bundle.id, pluginId: plugin?.id ?? null, origin, isolation };
  const asynchronous = lease !== null;
  return { id, projectId, ...what, asynchronous, createdAt, begunAt: null, lease, end: null };
}

/** Why a run was not recovered after its process exited; `details[0].reason` in responses. */
export const interruptions = {
  may_have_acted: 'the plugin may already have changed data, and a second run could change it twice',
  credentials_not_kept:
    'its credentials were in memory only, because there is no encryption key (QUARTERMASTER_SEALING_KEY)',
  seal_not_opened: 'its stored credentials cannot be decrypted with the encryption keys of the settings',
  tried_too_often: 'the service stopped each time this run was attempted',
  bundle_missing: 'no process has its bundle. Install the bundle and start a new run',
  cannot_begin: 'its input or its plugin is no longer valid',
} as const;
export type Interruption = keyof typeof interruptions;

/** @param hasBegun whether the plugin may have been executed; when false, the run can safely be requested again */
export function interruptedEnd(reason: Interruption, hasBegun: boolean, more?: string): RunEnd {
  const why = more === undefined ? interruptions[reason] : `${interruptions[reason]}: ${more}`;
  return {
    outcome: 'interrupted',
    errorCode: 'SERVICE_UNAVAILABLE',
    upstreamStatus: null,
    durationMs: null,
    phases: null,
    violations: 0,
    egress: [],
    egressLeftOut: 0,
    error: {
      code: 'SERVICE_UNAVAILABLE',
      message: `The service stopped before the run had ended, and it was not run again: ${why}.`,
      details: [{ reason, has_begun: hasBegun }],
    },
    input: null,
  };
}

/** The end of a run that was cancelled on request while no process had it. */
export const cancelledEnd: RunEnd = {
  ...interruptedEnd('cannot_begin', false),
  outcome: 'cancelled',
  errorCode: 'RUN_CANCELLED',
  error: { code: 'RUN_CANCELLED', message: 'The run was cancelled.' },
};
