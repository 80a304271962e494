/** A seeded source of random numbers. The same seed gives the same run. */
export interface Random {
  /** Returns an integer from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T | undefined;
  shuffle<T>(list: readonly T[]): T[];
  /** Returns an independent source, so that one part does not change what another part draws. */
  fork(name: string): Random;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  /** mulberry32 */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)],
    shuffle: (list) => {
      const copy = [...list];
      for (let last = copy.length - 1; last > 0; last--) {
        const other = below(last + 1);
        [copy[last], copy[other]] = [copy[other] as never, copy[last] as never]; // both are within the list
      }
      return copy;
    },
    fork: (name) => createRandom([...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed)),
  };
}
