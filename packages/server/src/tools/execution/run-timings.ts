import type { CallTimings } from '../egress/call-timings.ts';
import type { SandboxTimings } from './sandbox/sandbox.ts';

/**
 * The measurements of a run in progress, in milliseconds of `performance.now()`. Plain data in one object, because every run
 * allocates it.
 */
export interface RunTimings extends CallTimings, SandboxTimings {
  readonly askedAt: number;
  /** When the credentials and the input were valid. */
  validatedAt: number;
  /** When the plugin returned; the check of the output follows. */
  returnedAt: number;
  endedAt: number;
}

/** The milliseconds of each phase. They add up to the whole run. */
export interface RunPhases {
  /** Waiting for a process, without the start of the process. */
  readonly queue: number;
  /** Waiting for a process to start. */
  readonly start: number;
  /** Checking credentials, input and output. */
  readonly validate: number;
  /** The plugin itself: its handler, or rendering and mapping its request. */
  readonly plugin: number;
  /** At least one outbound call was in progress. */
  readonly upstream: number;
}

export function createRunTimings(): RunTimings {
  const now = performance.now();
  return {
    askedAt: now,
    validatedAt: now,
    returnedAt: now,
    endedAt: now,
    startMs: 0,
    pluginBeganAt: 0,
    calls: [],
    callsLeftOut: 0,
    upstreamMs: 0,
    underWay: 0,
    busySince: 0,
  };
}

/** Computes the phases of a run that has ended. */
export function phasesOf(trace: RunTimings): RunPhases {
  const { askedAt, validatedAt, returnedAt, endedAt, startMs, pluginBeganAt, upstreamMs } = trace;
  const waitedMs = (pluginBeganAt > 0 ? pluginBeganAt : returnedAt) - validatedAt;
  const start = Math.min(startMs, waitedMs);
  return {
    queue: milliseconds(waitedMs - start),
    start: milliseconds(start),
    validate: milliseconds(validatedAt - askedAt + (endedAt - returnedAt)),
    plugin: milliseconds(returnedAt - validatedAt - waitedMs - upstreamMs),
    upstream: milliseconds(upstreamMs),
  };
}

/** Rounds to microseconds; never negative. */
export function milliseconds(value: number): number {
  return Math.max(0, Math.round(value * 1000) / 1000);
}
