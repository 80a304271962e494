import type { Logger } from '../log/logger.ts';

/** Work that repeats: removing what is over, reconciling what a crash left, searching for jobs. */
export interface PeriodicTask {
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly pause: number;
  /** Never called while an earlier call runs. The signal aborts when the task is closed. */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface RunningTask {
  /** Runs now. While a run is under way, another one follows it. */
  trigger(): void;
  /** Starts no further run, aborts the one under way, and resolves when it has ended. */
  close(): Promise<void>;
}

/** Runs the task now and repeatedly. `onError` gets the error of a run, except after `close`; the next run follows. */
export function startPeriodicTask(task: PeriodicTask, onError: (error: unknown) => void): RunningTask {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isTriggered = false;

  async function runUntilQuiet(): Promise<void> {
    do {
      isTriggered = false;
      await runOnce();
    } while (isTriggered && !closing.signal.aborted);
    // Synchronous with the check above, so that no trigger is lost in between.
    running = undefined;
    if (!closing.signal.aborted) timer = setTimeout(trigger, task.pause);
  }

  async function runOnce(): Promise<void> {
    try {
      await task.run(closing.signal);
    } catch (error) {
      if (!closing.signal.aborted) onError(error);
    }
  }

  function trigger(): void {
    if (closing.signal.aborted) return;
    clearTimeout(timer);
    isTriggered = true;
    running ??= runUntilQuiet();
  }

  trigger();
  return {
    trigger,
    async close() {
      closing.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

/** Runs several tasks, each by itself; errors go to the log. */
export function startPeriodicTasks(tasks: readonly PeriodicTask[], logger: Logger): Pick<RunningTask, 'close'> {
  const running = tasks.map((task) =>
    startPeriodicTask(task, (error) => logger.error({ err: error, task: task.name }, 'periodic task failed')),
  );
  return {
    close: async () => void (await Promise.all(running.map((task) => task.close()))),
  };
}
