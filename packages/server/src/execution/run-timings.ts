import type { CallTimings } from '../egress/call-timings.ts';
import type { SandboxTimings } from './sandbox/sandbox.ts';

/**
 * What is measured of a run while it goes on, in milliseconds of `performance.now()`. Data only, and one object for all
 * of it: every run has one.
 */
export interface RunTimings extends CallTimings, SandboxTimings {
  readonly askedAt: number;
  /** Credentials and input were found right. */
  validatedAt: number;
  /** The output was there; what follows is its check. */
  returnedAt: number;
  endedAt: number;
}

/** Milliseconds. They add up to the whole run. */
export interface RunPhases {
  /** Waiting for a process, without the start of one. */
  readonly queue: number;
  /** Waiting for a process to start. */
  readonly start: number;
  /** Checking credentials, input and output. */
  readonly validate: number;
  /** The plugin itself: its handler, or the rendering and mapping of its request. */
  readonly plugin: number;
  /** At least one outbound call was under way. */
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

/** Where the time of a run that has ended went. */
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

/** To the microsecond, and never negative. */
export function milliseconds(value: number): number {
  return Math.max(0, Math.round(value * 1000) / 1000);
}
