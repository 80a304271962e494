/** A word of the index. */
export interface Term {
  readonly word: string;
  /** Of the word: the same word has the same. */
  readonly hash: number;
  /** How it is written when it occurs once. */
  readonly once: string;
}

/** How often each word occurs in one text; to be begun anew for the next one. */
export interface Tally {
  begin(): void;
  add(term: Term): void;
  /** In the order they were met first. */
  terms(): readonly Term[];
  times(place: number): number;
}

const firstSlots = 1024;

/** An open hash table whose slots say which text they are of: so none has to be cleared, and no word outlives its text. */
export function createTally(): Tally {
  let texts = 0;
  let textOf = new Int32Array(firstSlots);
  let placeOf = new Int32Array(firstSlots);
  let terms: Term[] = [];
  let times: number[] = [];

  /** The slot of the word, or the free one where it belongs. */
  function slotOf(term: Term): number {
    let slot = term.hash & (textOf.length - 1);
    while (textOf[slot] === texts && !isSame(terms[placeOf[slot] ?? 0], term)) slot = (slot + 1) & (textOf.length - 1);
    return slot;
  }

  function take(slot: number, place: number): void {
    textOf[slot] = texts;
    placeOf[slot] = place;
  }

  function grow(): void {
    textOf = new Int32Array(2 * textOf.length);
    placeOf = new Int32Array(textOf.length);
    for (const [place, term] of terms.entries()) take(slotOf(term), place);
  }

  return {
    begin: () => {
      texts += 1;
      terms = [];
      times = [];
    },
    add: (term) => {
      const slot = slotOf(term);
      const place = placeOf[slot] ?? 0;
      if (textOf[slot] === texts) {
        times[place] = (times[place] ?? 0) + 1;
        return;
      }
      take(slot, terms.length);
      terms.push(term);
      times.push(1);
      if (2 * terms.length > textOf.length) grow();
    },
    terms: () => terms,
    times: (place) => times[place] ?? 0,
  };
}

function isSame(one: Term | undefined, other: Term): boolean {
  return one === other || (one?.hash === other.hash && one.word === other.word);
}
