/** Work that runs once for many callers. */
export interface Coalesced {
  /** All calls that arrive during a run share the next one, so it sees every change that was made before them. */
  run(): Promise<void>;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

/** Runs one call at a time. */
export function coalesce(work: () => Promise<void>): Coalesced {
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  return {
    run() {
      queued ??= running
        .catch(() => undefined)
        .then(() => {
          queued = undefined;
          return work();
        });
      running = queued;
      return queued;
    },
    idle: () => running.catch(() => undefined),
  };
}
