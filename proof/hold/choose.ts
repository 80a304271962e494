import type { Random } from '../support/random.ts';

/** Takes `count` items of a list in the short run, and the whole list in the full run. */
export type Choose = <T>(list: readonly T[], count: number) => readonly T[];

/** Chooses with the seed. No item repeats before every item of the list was taken once, so that each kind occurs. */
export function createChooser({ slice, random }: { slice: boolean; random: Random }): Choose {
  const left = new Map<readonly unknown[], unknown[]>();
  return <T>(list: readonly T[], count: number) => {
    if (!slice) return list;
    const taken: T[] = [];
    while (taken.length < Math.min(count, list.length)) {
      let rest = left.get(list) as T[] | undefined; // created from this list
      if (rest === undefined || rest.length === 0) rest = [...random.shuffle(list)];
      taken.push(...rest.splice(0, count - taken.length));
      left.set(list, rest);
    }
    return taken;
  };
}
