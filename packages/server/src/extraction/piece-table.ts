/** Longer pieces are not kept. */
const longestPiece = 16;

/**
 * Remembers short pieces of text, those met last: language repeats itself. A Map of strings would have to cut out each
 * piece, hash it and find it among all strings of the process, which takes ten times as long; here its characters are
 * compared where they stand. There are two slots for pieces of one hash; a third one takes the place of the older.
 */
export interface PieceTable {
  /** @returns its slot; negative (`~slot`) when the piece was put there just now; undefined when it is too long. */
  find(codes: Uint16Array, start: number, end: number): number | undefined;
}

/** `slots` is a power of two. */
export function createPieceTable(slots: number): PieceTable {
  const characters = new Uint16Array(slots * longestPiece);
  const lengths = new Uint8Array(slots);
  /** Which of the two slots is the older one. */
  const older = new Uint8Array(slots / 2);

  /** Whether the piece in the slot stands in the text. */
  function stands(slot: number, codes: Uint16Array, start: number): boolean {
    const length = lengths[slot] ?? 0;
    for (let at = 0; at < length; at += 1) {
      if (characters[slot * longestPiece + at] !== codes[start + at]) return false;
    }
    return true;
  }

  return {
    find: (codes, start, end) => {
      const length = end - start;
      if (length > longestPiece) return undefined;
      // FNV-1a.
      let hash = -2128831035;
      for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (codes[at] ?? 0), 16777619);
      const pair = (hash ^ (hash >>> 15)) & (slots / 2 - 1);
      const first = 2 * pair;
      if (lengths[first] === length && stands(first, codes, start)) return first;
      if (lengths[first + 1] === length && stands(first + 1, codes, start)) return first + 1;
      const slot = first + (older[pair] ?? 0);
      older[pair] = (older[pair] ?? 0) ^ 1;
      lengths[slot] = length;
      characters.set(codes.subarray(start, end), slot * longestPiece);
      return ~slot;
    },
  };
}
