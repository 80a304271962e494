/** A signal that aborts with another signal, or when a time limit passes. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Whether the time limit has passed. */
  readonly isOver: () => boolean;
  /** Starts the time limit again, with another length. */
  restart(ms: number): void;
  /** Ends the time limit. The signal still aborts with the other one. */
  stop(): void;
  /** Aborts the signal immediately. */
  abort(reason: unknown): void;
  /** Ends both. */
  release(): void;
}

/** Timers with a longer delay would end immediately. */
const longestDelay = 2 ** 31 - 1;

/**
 * @param ms 0: no limit
 * @param reason of the signal when the limit passes
 */
export function startTimeLimit(ms: number, outer: AbortSignal | undefined, reason: () => unknown): TimeLimit {
  const own = new AbortController();
  let isOver = false;
  const abort = () => own.abort(outer?.reason);
  if (outer?.aborted === true) abort();
  else outer?.addEventListener('abort', abort, { once: true });
  const end = () => {
    isOver = !own.signal.aborted;
    own.abort(reason());
  };
  const start = (delay: number) => (delay > 0 && delay <= longestDelay ? setTimeout(end, delay) : undefined);
  let timer = start(ms);
  const stop = () => clearTimeout(timer);
  return {
    signal: own.signal,
    isOver: () => isOver,
    restart: (nextMs) => {
      stop();
      timer = start(nextMs);
    },
    stop,
    abort: (cause) => own.abort(cause),
    release: () => {
      stop();
      outer?.removeEventListener('abort', abort);
    },
  };
}

/** Waits. @throws the reason of the signal */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const limit = startTimeLimit(ms, signal, () => undefined);
    const end = () => {
      limit.release();
      if (signal?.aborted === true) reject(signal.reason);
      else resolve();
    };
    if (ms <= 0 || limit.signal.aborted) end();
    else limit.signal.addEventListener('abort', end, { once: true });
  });
}
