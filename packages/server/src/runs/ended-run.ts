import type { RunCall } from '@quartermaster/contract';
import type { Execution } from '../execution/outcome.ts';
import { type Outcome, outcomeCodes } from '../execution/outcome.ts';
import { outcomeProblem } from '../execution/problems.ts';
import type { JournalRun } from '../execution/run-journal.ts';
import { milliseconds, phasesOf } from '../execution/run-trace.ts';
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
export function endedRun(run: JournalRun, execution: Execution, keeping: Keeping): StoredRun {
  return { ...underWay(run), end: toRunEnd(run, execution, keeping) };
}

export function toRunEnd(run: JournalRun, { outcome, durationMs }: Execution, keeping: Keeping): RunEnd {
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
function scrubbedInput({ input, policy }: JournalRun): RunEnd['input'] {
  try {
    const scrubbed = policy.egress.scrubber.deep(input);
    return Buffer.byteLength(JSON.stringify(scrubbed)) > maxInputBytes ? null : scrubbed;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** A run that has not ended, as a record. One with a lease is asynchronous, and waits. */
export function underWay(run: JournalRun, lease: RunLease | null = null): StoredRun {
  const { runId: id, caller, pluginId, isolation, createdAt } = run;
  const { projectId, origin } = caller;
  const what = { bundleId: run.bundle.id, pluginId, origin, isolation };
  const asynchronous = lease !== null;
  return { id, projectId, ...what, asynchronous, createdAt, begunAt: null, lease, end: null };
}
