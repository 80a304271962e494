/** A time limit that can be paused while the process waits for another party. */
export interface Countdown {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Starts paused. `onEnd` is called once after `milliseconds`, not counting pauses. */
export function createCountdown(milliseconds: number, onEnd: () => void): Countdown {
  let remaining = milliseconds;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function pause(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    remaining -= performance.now() - since;
  }

  return {
    pause,
    resume: () => {
      if (timer !== undefined || stopped) return;
      since = performance.now();
      timer = setTimeout(onEnd, Math.max(0, remaining));
    },
    stop: () => {
      pause();
      stopped = true;
    },
  };
}
