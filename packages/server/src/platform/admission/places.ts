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
  /** Takes a place as `enter` does. @returns null when the owner may take none */
  tryEnter(owner: Owner, size?: number): (() => void) | null;
  /** Whether `enter` would succeed. */
  mayEnter(owner: Owner, size?: number): boolean;
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

export interface PlaceCounts {
  readonly places: ShareCounts;
  readonly sizes: ShareCounts;
  readonly countRefused: () => void;
  /** The number of nodes that share the places. */
  readonly nodes: () => number;
}

/**
 * A project takes at most half of the places that the other projects leave, and a key at most half of the places that the other
 * keys of its project leave. Places therefore remain for further projects and keys, although no entry can be displaced.
 */
export function createPlaces(options: PlaceOptions, counts: PlaceCounts): Places {
  function findExceeded(owner: Owner, size: number): Exceeded | null {
    // The sizes bound the memory of this process.
    const { sizes = Number.POSITIVE_INFINITY } = options;
    const places = Math.ceil(options.places / counts.nodes());
    const { ofProject: project = places, ofKey: key = places } = options;
    return (
      check(owner, { held: counts.places.of(owner), amount: 1 }, { all: places, project, key }) ??
      check(owner, { held: counts.sizes.of(owner), amount: size }, { all: sizes, project: sizes, key: sizes })
    );
  }

  function take(owner: Owner, size: number): () => void {
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
  }

  return {
    enter(owner, size = 0) {
      const exceeded = findExceeded(owner, size);
      if (exceeded === null) return take(owner, size);
      counts.countRefused();
      throw options.refuse(exceeded.share, exceeded.most);
    },
    tryEnter(owner, size = 0) {
      if (findExceeded(owner, size) === null) return take(owner, size);
      counts.countRefused();
      return null;
    },
    mayEnter: (owner, size = 0) => findExceeded(owner, size) === null,
    held: counts.places.of,
  };
}

interface Exceeded {
  readonly share: ExceededShare;
  readonly most: number;
}

function check(
  { keyId }: Owner,
  { held, amount }: { readonly held: Shares; readonly amount: number },
  most: Shares,
): Exceeded | null {
  if (held.all + amount > most.all) return { share: 'all', most: most.all };
  const ofProject = Math.min(most.project, shareOf(most.all, held.all - held.project));
  // A project or key without an entry is exempt, so that it can take the last place.
  if (held.project > 0 && held.project + amount > ofProject) return { share: 'project', most: ofProject };
  // All callers without a key count as one project with one key, so the limit of the project is enough.
  if (keyId === null) return null;
  const ofKey = Math.min(most.key, shareOf(ofProject, held.project - held.key));
  return held.key > 0 && held.key + amount > ofKey ? { share: 'key', most: ofKey } : null;
}

function shareOf(places: number, others: number): number {
  return Math.floor((places - others) / 2);
}
