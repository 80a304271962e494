import { RedactionRefused } from './redaction-budget.ts';

/** Finds any of many texts in a text, in one pass, with bounded work. */
export interface PieceFinder {
  /** Whether one of the pieces stands in the text. */
  has(text: string): boolean;
  /** The text with every piece replaced: the leftmost first, and of those that start at one place the longest. */
  replace(text: string, replacement: string): string;
}

/** Comparisons of characters that one search may make, beside one pass over the text. */
const workPerSearch = 16 * 1024 * 1024;
/** A piece costs this much even when its first characters differ. */
const workPerCandidate = 4;
/** Every piece has at least this many characters; the hash is one of as many. */
export const shortestPiece = 4;

/** Whether a piece that stands at [start, end) counts. */
export type Accepts = (text: string, start: number, end: number) => boolean;

/**
 * A rolling hash over four characters picks the pieces that may start at a place (Rabin–Karp); those are then compared.
 * @param pieces of at least {@link shortestPiece} characters each
 */
export function createPieceFinder(pieces: Iterable<string>, accepts: Accepts = () => true): PieceFinder {
  const buckets = new Map<number, string[]>();
  const isStart = new Uint8Array(0x10000);
  // The longest first, so that the first that fits is the one to take.
  for (const piece of [...new Set(pieces)].sort((a, b) => b.length - a.length)) {
    const hash = hashOf(piece);
    isStart[hash] = 1;
    const bucket = buckets.get(hash);
    if (bucket === undefined) buckets.set(hash, [piece]);
    else bucket.push(piece);
  }

  function* occurrences(text: string): Generator<{ start: number; end: number }> {
    let work = workPerSearch + 2 * text.length;
    let free = 0;
    let hash = 0;
    for (let at = 0; at < text.length; at += 1) {
      hash = ((hash << 4) ^ text.charCodeAt(at)) & 0xffff;
      const start = at - shortestPiece + 1;
      if (isStart[hash] === 0 || start < free) continue;
      for (const piece of buckets.get(hash) ?? []) {
        work -= workPerCandidate;
        const end = start + piece.length;
        if (end > text.length || text[end - 1] !== piece[piece.length - 1]) continue;
        work -= piece.length;
        if (work < 0) throw refused();
        if (!text.startsWith(piece, start) || !accepts(text, start, end)) continue;
        yield { start, end };
        free = end;
        break;
      }
      if (work < 0) throw refused();
    }
  }

  return {
    has: (text) => occurrences(text).next().done !== true,
    replace(text, replacement) {
      const parts: string[] = [];
      let from = 0;
      for (const { start, end } of occurrences(text)) {
        parts.push(text.slice(from, start), replacement);
        from = end;
      }
      return from === 0 ? text : parts.join('') + text.slice(from);
    },
  };
}

/** The search stopped before the end of the text. */
function refused(): RedactionRefused {
  return new RedactionRefused('a text resembles them too closely to be searched for them');
}

/** Each step shifts the hash by four bits per character, so after four steps an earlier character has no effect. */
function hashOf(piece: string): number {
  let hash = 0;
  for (let at = 0; at < shortestPiece; at += 1) hash = ((hash << 4) ^ piece.charCodeAt(at)) & 0xffff;
  return hash;
}
