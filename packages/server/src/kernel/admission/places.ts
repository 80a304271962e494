import type { Owner } from './owner.ts';
import type { ShareCounts, Shares } from './share-counts.ts';

/** Counts entries that hold a place until they end, such as streams and stored runs. No other caller can displace an entry. */
export interface Places {
  /**
   * Takes a place. @returns the function that frees it; further calls of it have no effect
   * @param size in the unit of `sizes`
   * @throws the error of `refuse`
   */
  enter(owner: Owner, size?: number): () => void;
  /** The places that an owner, its project and all owners hold. */
  held(owner: Owner): Shares;
}

/** The share of the places that is used up. */
export type ExceededShare = 'key' | 'project' | 'all';

export interface PlaceOptions {
  /** The number of places. */
  readonly places: number;
  /** The maximum number of places of one project and of one key, if it is below their shares. */
  readonly ofProject?: number;
  readonly ofKey?: number;
  /** The maximum total in a second unit, such as characters. */
  readonly sizes?: number;
  readonly refuse: (exceeded: ExceededShare, most: number) => Error;
}

/**
 * A project takes at most half of the places that the other projects leave, and a key at most half of the places that the other
 * keys of its project leave. Places therefore remain for further projects and keys, although no entry can be displaced.
 */
export function createPlaces(
  options: PlaceOptions,
  counts: { readonly places: ShareCounts; readonly sizes: ShareCounts },
): Places {
  function check({ keyId, held, amount }: { keyId: string | null; held: Shares; amount: number }, most: Shares): void {
    if (held.all + amount > most.all) throw options.refuse('all', most.all);
    const ofProject = Math.min(most.project, shareOf(most.all, held.all - held.project));
    // A project or key without an entry is exempt, so that it can take the last place.
    if (held.project > 0 && held.project + amount > ofProject) throw options.refuse('project', ofProject);
    // All callers without a key count as one project with one key, so the limit of the project is enough.
    if (keyId === null) return;
    const ofKey = Math.min(most.key, shareOf(ofProject, held.project - held.key));
    if (held.key > 0 && held.key + amount > ofKey) throw options.refuse('key', ofKey);
  }

  return {
    enter(owner, size = 0) {
      const { places, ofProject: project = places, ofKey: key = places, sizes } = options;
      const { keyId } = owner;
      check({ keyId, held: counts.places.of(owner), amount: 1 }, { all: places, project, key });
      const most = sizes ?? Number.POSITIVE_INFINITY;
      check({ keyId, held: counts.sizes.of(owner), amount: size }, { all: most, project: most, key: most });
      const add = (by: 1 | -1) => {
        counts.places.add(owner, by);
        counts.sizes.add(owner, by * size);
      };
      add(1);
      let isHeld = true;
      return () => {
        if (isHeld) add(-1);
        isHeld = false;
      };
    },
    held: counts.places.of,
  };
}

function shareOf(places: number, others: number): number {
  return Math.floor((places - others) / 2);
}
