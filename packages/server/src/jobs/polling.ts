export interface Polling {
  /** Looks now; when a look is under way another one follows it. */
  wake(): void;
  /** No look starts any more; waits for the one under way. */
  close(): Promise<void>;
}

export interface PollingDeps {
  /** One look. Never two at once. */
  readonly look: () => Promise<void>;
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/** Looks for work when woken, and once in a while by itself: other processes and run-out leases wake nobody. */
export function startPolling({ look, everyMs, onError }: PollingDeps): Polling {
  let looking: Promise<void> | undefined;
  let again = false;
  let closed = false;

  async function lookUntilQuiet(): Promise<void> {
    do {
      again = false;
      await look().catch(onError);
    } while (again && !closed);
    // In the same turn as the check above, so that no call of `wake` falls in between.
    looking = undefined;
  }

  function wake(): void {
    if (closed) return;
    again = true;
    looking ??= lookUntilQuiet();
  }

  const timer = setInterval(wake, everyMs);
  wake();
  return {
    wake,
    async close() {
      closed = true;
      clearInterval(timer);
      await looking;
    },
  };
}
