import type { Random } from '../support/random.ts';

/** Takes half of `count` items of a list in the short run, but at least one, and the whole list in the full run. */
export type Choose = <T>(list: readonly T[], count: number) => readonly T[];

/** Chooses with the seed. No item repeats before every item of the list was chosen once, so that each kind occurs. */
export function createChooser({ slice, random }: { slice: boolean; random: Random }): Choose {
  const remaining = new Map<readonly unknown[], unknown[]>();
  return <T>(list: readonly T[], count: number) => {
    if (!slice) return list;
    const chosen: T[] = [];
    const wanted = Math.min(Math.ceil(count / 2), list.length);
    while (chosen.length < wanted) {
      let rest = remaining.get(list) as T[] | undefined; // created from this list
      if (rest === undefined || rest.length === 0) rest = [...random.shuffle(list)];
      chosen.push(...rest.splice(0, wanted - chosen.length));
      remaining.set(list, rest);
    }
    return chosen;
  };
}
