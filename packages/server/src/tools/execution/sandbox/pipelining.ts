/**
 * Pipelining: several runs are sent to one process, which executes them one after another. It saves the wake-up of
 * a sleeping process for each run: without it, 32 callers of a small handler in the
 * sandbox got 997 instead of 2,751 runs per second. Only runs of
 * handlers known to be quick may have others behind them, because a process cannot return runs while it computes (ADR 0016).
 */

/** Predicts from past runs how long a run takes. */
export interface RunDurations {
  record(handlerUrl: string, ms: number): void;
  /** Whether other runs may be pipelined behind a run of this handler. */
  isQuick(handlerUrl: string): boolean;
  /** A moving average over all handlers, in milliseconds. */
  typicalMs(): number;
}

const quickMs = 1;
/** The assumed duration of an unknown handler. It counts as slow until about sixteen quick runs have ended. */
const unknownMs = 8;

/** The average of a handler rises immediately and falls slowly: after one slow run, many quick runs are needed. */
export function createRunDurations(): RunDurations {
  const averages = new Map<string, number>();
  let typicalMs = 10;
  return {
    record: (handlerUrl, ms) => {
      const average = averages.get(handlerUrl) ?? unknownMs;
      averages.set(handlerUrl, ms > average ? ms : average + (ms - average) / 8);
      typicalMs += (ms - typicalMs) / 16;
    },
    isQuick: (handlerUrl) => (averages.get(handlerUrl) ?? unknownMs) < quickMs,
    typicalMs: () => typicalMs,
  };
}

/** Detects head-of-line blocking: runs wait in a process behind one that takes longer than expected. */
export interface BlockingWatch {
  /** Call it when a second run is sent to the process. */
  start(): void;
  stop(): void;
}

export interface PipelineProgress {
  /** Runs sent to the process that have not ended. */
  readonly depth: () => number;
  /** Runs that have ended in the process. */
  readonly finished: () => number;
  readonly onBlocked: () => void;
}

const blockedAfterMs = 20;

/** Calls `onBlocked` every 20 ms while runs are pipelined and none has ended in that time. */
export function createBlockingWatch({ depth, finished, onBlocked }: PipelineProgress): BlockingWatch {
  let finishedBefore = 0;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    if (depth() < 2) stop();
    else if (finished() === finishedBefore) onBlocked();
    finishedBefore = finished();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    start: () => {
      if (timer !== undefined) return;
      finishedBefore = finished();
      timer = setInterval(look, blockedAfterMs).unref();
    },
    stop,
  };
}
