import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../../platform/log/logger.ts';
import type { Problem } from '../../platform/problem.ts';
import { databaseUnreachable } from '../database/problems.ts';

/**
 * Tracks whether the database accepts statements. After a failure, or when no answer arrives for a while, it probes a
 * new connection. While the probe fails, every request for a connection is refused immediately instead of waiting for a
 * timeout.
 */
export interface Availability {
  /** Throws SERVICE_UNAVAILABLE while the database is unavailable. */
  assert(): void;
  /** Rejects when the database becomes unavailable before the work is done; a later result is passed to `onLate`. */
  whileAvailable<T>(work: Promise<T>, onLate: (result: T) => void): Promise<T>;
  /**
   * Increases when existing connections may lead to the wrong server. A connection belongs to the epoch in which it was
   * opened.
   */
  epoch(): number;
  /**
   * Notes that a statement was sent or a connection was requested. The caller calls the returned function at the end.
   */
  sent(): (answered: boolean) => void;
  /** Probes the database. `stale` means that existing connections may lead to the wrong server. */
  suspect(reason: unknown, stale?: 'stale'): void;
  close(): Promise<void>;
}

export interface AvailabilityOptions {
  /** Resolves when a new connection accepts writes. */
  readonly probe: () => Promise<void>;
  readonly logger: Logger;
  /** Milliseconds without any answer, while statements wait, after which the database is probed. */
  readonly silenceMs?: number;
  /** Milliseconds between two probes of an unavailable database. */
  readonly pauseMs?: number;
  /** A failed probe is not counted when the event loop was blocked for at least this many milliseconds. */
  readonly stallMs?: number;
}

/** After this many probes during which the event loop stood still, the database counts as unavailable. */
const mostStalledProbes = 3;

export function createAvailability(options: AvailabilityOptions): Availability {
  const { probe, logger, silenceMs = 2_000, pauseMs = 250, stallMs = 500 } = options;
  const closing = new AbortController();
  const waiting = new Set<{ readonly since: number }>();
  let epoch = 0;
  let lastAnswer = 0;
  let probing: Promise<void> | undefined;
  let away: { readonly reason: unknown } | undefined;
  /** Rejects the requests that wait for a connection. */
  const refusals = new Set<(problem: Problem) => void>();

  function leave(reason: unknown): void {
    if (away !== undefined) return;
    epoch += 1;
    away = { reason };
    for (const refuse of refusals) refuse(databaseUnreachable(reason));
    logger.error(describeReason(reason), 'database unavailable');
  }

  function comeBack(): void {
    lastAnswer = performance.now();
    if (away === undefined) return;
    away = undefined;
    logger.info('database available');
  }

  async function probeUntilAnswered(): Promise<void> {
    let stalled = 0;
    while (!closing.signal.aborted) {
      const failure = await failureOf(probe, stallMs);
      if (failure === undefined) return comeBack();
      stalled = failure.isStalled ? stalled + 1 : mostStalledProbes;
      if (stalled >= mostStalledProbes) leave(failure.reason);
      await setTimeout(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  function suspect(_reason: unknown, stale?: 'stale'): void {
    if (stale !== undefined) epoch += 1;
    probing ??= probeUntilAnswered().finally(() => {
      probing = undefined;
    });
  }

  /** Detects a silent server, which neither refuses nor closes connections. */
  function listenForSilence(): void {
    const [oldest] = waiting;
    const now = performance.now();
    if (oldest === undefined || now - Math.max(oldest.since, lastAnswer) < silenceMs) return;
    suspect(new Error(`no answer for ${silenceMs} ms`));
  }
  const timer = setInterval(listenForSilence, silenceMs / 4);
  timer.unref();

  return {
    epoch: () => epoch,
    suspect,
    assert() {
      if (away !== undefined) throw databaseUnreachable(away.reason);
    },
    whileAvailable: (work, onLate) =>
      new Promise((resolve, reject) => {
        const refuse = (problem: Problem) => {
          refusals.delete(refuse);
          work.then(onLate, () => {});
          reject(problem);
        };
        refusals.add(refuse);
        // Both steps happen together, so a result that is returned is never passed to `onLate` as well.
        work.then(
          (result) => {
            refusals.delete(refuse);
            resolve(result);
          },
          (error: unknown) => {
            refusals.delete(refuse);
            reject(error);
          },
        );
      }),
    sent() {
      const statement = { since: performance.now() };
      waiting.add(statement);
      return (answered) => {
        waiting.delete(statement);
        if (answered) lastAnswer = performance.now();
      };
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      await probing;
    },
  };
}

/** Errors of the network and of PostgreSQL have a code, and their sentence is enough. Others are defects, whose stack helps. */
function describeReason(error: unknown): Readonly<Record<string, unknown>> {
  const { code, message } = error as NodeJS.ErrnoException; // or any value, which has neither
  return code === undefined ? { err: error } : { reason: message || code };
}

interface ProbeFailure {
  readonly reason: unknown;
  readonly isStalled: boolean;
}

/** @returns undefined when the probe succeeds */
async function failureOf(probe: () => Promise<void>, stallMs: number): Promise<ProbeFailure | undefined> {
  const delay = monitorEventLoopDelay();
  delay.enable();
  try {
    await probe();
    return undefined;
  } catch (reason) {
    return { reason, isStalled: delay.max > stallMs * 1e6 };
  } finally {
    delay.disable();
  }
}
