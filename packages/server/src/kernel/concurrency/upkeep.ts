import type { Logger } from '../log/logger.ts';

/** Work that comes back: sweeping what is over, reconciling what a crash left. */
export interface UpkeepTask {
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly pause: number;
  run(signal: AbortSignal): Promise<unknown>;
}

export interface Upkeep {
  /** No run starts any more; those under way are told to stop, and it resolves when they have. */
  close(): Promise<void>;
}

/** Runs each task now and then again and again, never twice at once. A run that fails is logged and tried next time. */
export function startUpkeep(tasks: readonly UpkeepTask[], logger: Logger): Upkeep {
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function runOnce(task: UpkeepTask): Promise<void> {
    try {
      await task.run(stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      logger.error({ err: error, task: task.name }, 'periodic task failed');
    }
  }

  function start(task: UpkeepTask): void {
    const run: Promise<void> = runOnce(task).then(() => {
      running.delete(run);
      if (stopping.signal.aborted) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        start(task);
      }, task.pause);
      timers.add(timer);
    });
    running.add(run);
  }

  for (const task of tasks) start(task);
  return {
    async close() {
      stopping.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}
