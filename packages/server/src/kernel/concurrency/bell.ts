/** An auto-reset event: it wakes one waiter. A ring without a waiter is remembered. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, or when the time is up or the signal is aborted. */
  wait(atMostMs: number, signal: AbortSignal): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let answer: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      answer?.();
    },
    wait: async (atMostMs, signal) => {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(finish, atMostMs);
          function finish() {
            clearTimeout(timer);
            signal.removeEventListener('abort', finish);
            answer = undefined;
            resolve();
          }
          signal.addEventListener('abort', finish, { once: true });
          answer = finish;
        });
      }
      rung = false;
    },
  };
}
