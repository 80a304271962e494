import type { RunCall } from '@quartermaster/contract';
import type { Execution } from '../execution/executor.ts';
import { type Outcome, outcomeCodes } from '../execution/outcome.ts';
import { outcomeProblem } from '../execution/problems.ts';
import type { JournalRun } from '../execution/run-journal.ts';
import { milliseconds, phasesOf, type RunTrace } from '../execution/run-trace.ts';
import type { RunEnd, RunLease, StoredRun } from './run-repository.ts';

/** What the end of a run is made of, without its output and its credentials: it may wait for a while to be stored. */
export interface EndedRun {
  readonly runId: string;
  readonly projectId: string;
  readonly run: Pick<StoredRun, 'bundleId' | 'pluginId' | 'origin' | 'isolation' | 'createdAt'>;
  readonly trace: RunTrace;
  readonly durationMs: number;
  readonly outcome: Outcome['kind'];
  readonly upstreamStatus: number | null;
  readonly violations: number;
  readonly error: RunEnd['error'];
  readonly input: RunEnd['input'];
}

/** Whose words may be in a record. */
export interface Keeping {
  /** The input, and error messages, in which a plugin or a third party may repeat it. */
  readonly words: boolean;
  /** The input itself. */
  readonly input: boolean;
}

/** Bytes of JSON; a larger input is not kept. */
const maxInputBytes = 16 * 1024;

/** Takes of a run what its record needs. Everything in it is scrubbed, and cheap: it is done on the way of the run. */
export function endedRun(run: JournalRun, { outcome, durationMs }: Execution, keeping: Keeping): EndedRun {
  const { runId, pluginId, isolation, createdAt, trace, caller } = run;
  return {
    runId,
    projectId: caller.projectId,
    run: { bundleId: run.bundle.id, pluginId, origin: caller.origin, isolation, createdAt },
    trace,
    durationMs,
    outcome: outcome.kind,
    upstreamStatus: 'upstreamStatus' in outcome ? outcome.upstreamStatus : null,
    violations: outcome.kind === 'succeeded' ? outcome.violations.length : 0,
    error: outcome.kind === 'succeeded' ? null : describeError(outcome, runId, keeping.words),
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

function scrubbedInput({ input, policy }: JournalRun): RunEnd['input'] {
  const scrubbed = policy.egress.scrubber.deep(input);
  return Buffer.byteLength(JSON.stringify(scrubbed)) > maxInputBytes ? null : scrubbed;
}

/** The record itself; made when it is stored or read. */
export function toStoredRun(ended: EndedRun): StoredRun {
  const { runId: id, projectId, run } = ended;
  return { id, projectId, ...run, asynchronous: false, begunAt: null, lease: null, end: toRunEnd(ended) };
}

export function toRunEnd({ trace, outcome, ...ended }: EndedRun): RunEnd {
  const { queue, start, validate, plugin, upstream } = phasesOf(trace);
  return {
    outcome,
    errorCode: outcomeCodes[outcome],
    upstreamStatus: ended.upstreamStatus,
    durationMs: ended.durationMs,
    phases: { queue_ms: queue, start_ms: start, validate_ms: validate, plugin_ms: plugin, upstream_ms: upstream },
    violations: ended.violations,
    egress: trace.calls.map(({ ms, ...call }): RunCall => ({ ...call, ms: milliseconds(ms) })),
    egressLeftOut: trace.callsLeftOut,
    error: ended.error,
    input: ended.input,
  };
}

/** A run that has not ended, as a record. One with a lease is asynchronous, and waits. */
export function underWay(run: JournalRun, lease: RunLease | null = null): StoredRun {
  const { runId: id, caller, pluginId, isolation, createdAt } = run;
  const { projectId, origin } = caller;
  const what = { bundleId: run.bundle.id, pluginId, origin, isolation };
  const asynchronous = lease !== null;
  return { id, projectId, ...what, asynchronous, createdAt, begunAt: null, lease, end: null };
}
