/** A time limit that can be halted while somebody else holds things up. */
export interface Countdown {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Starts paused. `onEnd` is called once when `milliseconds` have passed without the pauses. */
export function createCountdown(milliseconds: number, onEnd: () => void): Countdown {
  let left = milliseconds;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function pause(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    left -= performance.now() - since;
  }

  return {
    pause,
    resume: () => {
      if (timer !== undefined || stopped) return;
      since = performance.now();
      timer = setTimeout(onEnd, Math.max(0, left));
    },
    stop: () => {
      pause();
      stopped = true;
    },
  };
}
