/** Wakes one waiting loop. Without a waiting loop, the notification is remembered until the next wait. */
export interface WakeEvent {
  notify(): void;
  /** Resolves at the next notification, after `atMostMs` milliseconds, or when the signal aborts. */
  wait(atMostMs: number, signal: AbortSignal): Promise<void>;
}

export function createWakeEvent(): WakeEvent {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify: () => {
      isNotified = true;
      wake?.();
    },
    wait: async (atMostMs, signal) => {
      if (!isNotified && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(finish, atMostMs);
          function finish() {
            clearTimeout(timer);
            signal.removeEventListener('abort', finish);
            wake = undefined;
            resolve();
          }
          signal.addEventListener('abort', finish, { once: true });
          wake = finish;
        });
      }
      isNotified = false;
    },
  };
}
