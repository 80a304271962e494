import { type DiskSpace, unlimitedSpace } from '../../platform/disk/disk-space.ts';

export interface DeadlineOptions {
  /** The time limit of the work. */
  readonly milliseconds: number;
  readonly space: DiskSpace | undefined;
  readonly signal: AbortSignal;
  readonly onPassed: () => void;
}

export interface WorkDeadline {
  /** Waits while the disk is nearly full. That time does not count. */
  untilFreeSpace(): Promise<void>;
  /** Milliseconds of work since the start, without the time spent waiting for disk space. */
  workedMs(): number;
  stop(): void;
}

/** Enforces the time limit of one attempt to ingest a record. */
export function startDeadline({
  milliseconds,
  space = unlimitedSpace,
  signal,
  onPassed,
}: DeadlineOptions): WorkDeadline {
  const startedAt = performance.now();
  let waitedMs = 0;
  let waitingSince: number | null = null;
  let timer = setTimeout(onPassed, milliseconds);
  let stopped = false;
  let waiting: Promise<void> | null = null;
  const workedMs = () => (waitingSince ?? performance.now()) - startedAt - waitedMs;

  async function waitForSpace(): Promise<void> {
    clearTimeout(timer);
    const since = performance.now();
    waitingSince = since;
    try {
      await space.untilFreeSpace(signal);
    } finally {
      waitedMs += performance.now() - since;
      waitingSince = null;
      waiting = null;
    }
    if (!stopped) timer = setTimeout(onPassed, Math.max(0, milliseconds - workedMs()));
  }

  return {
    async untilFreeSpace() {
      if (await space.hasFreeSpace()) return;
      waiting ??= waitForSpace();
      await waiting;
    },
    workedMs,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
