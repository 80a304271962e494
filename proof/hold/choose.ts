import type { Random } from '../support/random.ts';

/** Takes `count` items of a list in the short run, and the whole list in the full run. */
export type Choose = <T>(list: readonly T[], count: number) => readonly T[];

/** Chooses with the seed. No item repeats before every item of the list was chosen once, so that each kind occurs. */
export function createChooser({ slice, random }: { slice: boolean; random: Random }): Choose {
  const remaining = new Map<readonly unknown[], unknown[]>();
  return <T>(list: readonly T[], count: number) => {
    if (!slice) return list;
    const chosen: T[] = [];
    while (chosen.length < Math.min(count, list.length)) {
      let rest = remaining.get(list) as T[] | undefined; // created from this list
      if (rest === undefined || rest.length === 0) rest = [...random.shuffle(list)];
      chosen.push(...rest.splice(0, count - chosen.length));
      remaining.set(list, rest);
    }
    return chosen;
  };
}
