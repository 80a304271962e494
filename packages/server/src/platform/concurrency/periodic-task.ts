import type { Logger } from '../log/logger.ts';

/** Repeated work, such as deleting expired rows, reconciling after a crash, or searching for jobs. */
export interface PeriodicTask {
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly pause: number;
  /** Calls never overlap. The signal aborts when the task is closed. */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface RunningTask {
  /** Runs the task now. During a run it requests one more run afterwards. */
  trigger(): void;
  /** Prevents further runs, aborts the current one, and resolves when it has ended. */
  close(): Promise<void>;
}

/** Runs the task now and at intervals. `onError` receives the error of a run, except after `close`; later runs continue. */
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
    // In the same turn as the check above, so that no trigger is lost.
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

/** Runs several tasks independently and logs their errors. */
export function startPeriodicTasks(tasks: readonly PeriodicTask[], logger: Logger): Pick<RunningTask, 'close'> {
  const running = tasks.map((task) => startLoggedTask(task, logger));
  return {
    close: async () => void (await Promise.all(running.map((task) => task.close()))),
  };
}

const logAgainMs = 60_000;

/** Logs the first of several failures in turn, one a minute, and their end: while the database is away, every task fails. */
export function startLoggedTask(task: PeriodicTask, logger: Pick<Logger, 'error' | 'info'>): RunningTask {
  let failures = 0;
  let loggedAt = 0;
  const run = async (signal: AbortSignal) => {
    await task.run(signal);
    if (failures > 1) logger.info({ task: task.name, failures }, 'periodic task succeeded again');
    failures = 0;
  };
  return startPeriodicTask({ ...task, run }, (error) => {
    failures += 1;
    if (failures > 1 && performance.now() - loggedAt < logAgainMs) return;
    loggedAt = performance.now();
    logger.error({ err: error, task: task.name, failures }, 'periodic task failed');
  });
}
