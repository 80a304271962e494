/** Lets so many run at once; the others wait in the order they came. */
export interface Turns {
  /** Resolves with true when it is one's turn, which has to be passed on; with false when the signal came first. */
  wait(signal: AbortSignal): Promise<boolean>;
  pass(): void;
}

export function createTurns(atOnce: number): Turns {
  const waiting: Array<() => void> = [];
  let running = 0;
  return {
    wait: async (signal) => {
      if (signal.aborted) return false;
      if (running < atOnce) {
        running += 1;
        return true;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const turn = () => resolve(true);
      const cancel = () => {
        const place = waiting.indexOf(turn);
        if (place === -1) return;
        waiting.splice(place, 1);
        resolve(false);
      };
      waiting.push(turn);
      signal.addEventListener('abort', cancel, { once: true });
      const came = await promise;
      signal.removeEventListener('abort', cancel);
      return came;
    },
    pass: () => {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    },
  };
}
