import { tooManySignIns } from './problems.ts';

/** Runs work that takes memory, a few at once, and refuses what would wait too long. */
export interface HashingLine {
  /** @throws Problem TOO_MANY_REQUESTS when the line is full. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** @param length how many may wait while `atOnce` are at work. */
export function createHashingLine(atOnce = 2, length = 32): HashingLine {
  const waiting: Array<() => void> = [];
  let working = 0;

  return {
    run: async (work) => {
      if (working >= atOnce) {
        if (waiting.length >= length) throw tooManySignIns(1);
        const turn = Promise.withResolvers<void>();
        waiting.push(turn.resolve);
        await turn.promise;
      } else working++;
      try {
        return await work();
      } finally {
        // The place goes to the next in line, or is given back.
        const next = waiting.shift();
        if (next === undefined) working--;
        else next();
      }
    },
  };
}
