import type { RunCall } from '@quartermaster/contract';
import type { Execution } from '../execution/outcome.ts';
import { type Outcome, outcomeCodes } from '../execution/outcome.ts';
import { outcomeProblem } from '../execution/problems.ts';
import type { ObservedRun } from '../execution/run-observer.ts';
import { milliseconds, phasesOf } from '../execution/run-timings.ts';
import { Problem } from '../kernel/problem.ts';
import type { RunEnd, RunLease, StoredRun } from './run-repository.ts';

/** Whose words may be in a record. */
export interface Keeping {
  /** The input, and error messages, in which a plugin or a third party may repeat it. */
  readonly words: boolean;
  /** The input itself. */
  readonly input: boolean;
}

/** Bytes of JSON; a larger input is not kept. */
const maxInputBytes = 16 * 1024;

/** The record of a run that has ended, without its output and its credentials; everything in it is scrubbed. */
export function endedRun(run: ObservedRun, execution: Execution, keeping: Keeping): StoredRun {
  return { ...underWay(run), end: toRunEnd(run, execution, keeping) };
}

export function toRunEnd(run: ObservedRun, { outcome, durationMs }: Execution, keeping: Keeping): RunEnd {
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
    error: outcome.kind === 'succeeded' ? null : describeError(outcome, run.runId, keeping.words),
    input: keeping.input ? scrubbedInput(run) : null,
  };
}

function describeError(
  outcome: Exclude<Outcome, { kind: 'succeeded' }>,
  runId: string,
  words: boolean,
): RunEnd['error'] {
  if (!words) return { code: outcomeCodes[outcome.kind], message: null };
  const { code, message, details } = outcomeProblem(outcome, runId);
  return { code, message, ...(details === undefined ? {} : { details: [...details] }) };
}

/** null: it is too large, or cannot be searched for the credentials. */
function scrubbedInput({ input, policy }: ObservedRun): RunEnd['input'] {
  try {
    const scrubbed = policy.egress.redactor.deep(input);
    return Buffer.byteLength(JSON.stringify(scrubbed)) > maxInputBytes ? null : scrubbed;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** A run that has not ended, as a record. One with a lease is asynchronous, and waits. */
export function underWay(run: ObservedRun, lease: RunLease | null = null): StoredRun {
  const { runId: id, caller, pluginId, isolation, createdAt } = run;
  const { projectId, origin } = caller;
  const what = { bundleId: run.bundle.id, pluginId, origin, isolation };
  const asynchronous = lease !== null;
  return { id, projectId, ...what, asynchronous, createdAt, begunAt: null, lease, end: null };
}

/** Why a run that lost its process was not recovered; on the wire `details[0].reason`. */
export const interruptions = {
  may_have_acted: 'the plugin may have acted already, and acting twice is not what was asked for',
  credentials_not_kept: 'its credentials were in memory only, for there is no sealing key (QUARTERMASTER_SEALING_KEY)',
  seal_not_opened: 'what was kept of it cannot be decrypted with the encryption keys of the settings',
  tried_too_often: 'the service ended each time it ran',
  bundle_missing: 'no process has its bundle; install the bundle and ask for the run again',
  cannot_begin: 'it can no longer begin',
} as const;
export type Interruption = keyof typeof interruptions;

/** @param hasBegun the plugin may have been executed; false: nothing was done, and the run may safely be requested again */
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

/** A client asked for the cancellation, and no process had the run. */
export const cancelledEnd: RunEnd = {
  ...interruptedEnd('cannot_begin', false),
  outcome: 'cancelled',
  errorCode: 'RUN_CANCELLED',
  error: { code: 'RUN_CANCELLED', message: 'The run was cancelled.' },
};
