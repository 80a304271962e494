import { RedactionRefused } from './redaction-budget.ts';

/** Finds any of many pieces in a text, in one pass with bounded work. */
export interface PieceFinder {
  /** Whether the text contains one of the pieces. */
  has(text: string): boolean;
  /** Replaces every piece: the leftmost first, and the longest of those that start at the same position. */
  replace(text: string, replacement: string): string;
  /** Replaces the pieces that start in a part of the text. They may end after it. */
  replacePart(text: string, part: TextPart, replacement: string): ReplacedPart;
}

/** The positions of a part of a text: from `from`, before `limit`. */
export interface TextPart {
  readonly from: number;
  readonly limit: number;
}

export interface ReplacedPart {
  readonly text: string;
  /** The end of the part that was replaced: `limit`, or the end of a piece that continues after it. */
  readonly end: number;
}

/** The character comparisons that one search may perform, in addition to one pass over the text. */
const workPerSearch = 16 * 1024 * 1024;
/** The cost of comparing a piece, even when its first characters differ. */
const workPerCandidate = 4;
/** The least length of a piece, which is also the length that the hash covers. */
export const shortestPiece = 4;

/** Whether a piece at [start, end) counts as a match. */
export type Accepts = (text: string, start: number, end: number) => boolean;

/**
 * Selects candidate pieces with a rolling hash over four characters (Rabin–Karp), then compares them.
 * @param pieces of at least {@link shortestPiece} characters each
 */
export function createPieceFinder(pieces: Iterable<string>, accepts: Accepts = () => true): PieceFinder {
  const buckets = new Map<number, string[]>();
  const isStart = new Uint8Array(0x10000);
  // Sorted by length, so that the first match is the longest.
  for (const piece of [...new Set(pieces)].sort((a, b) => b.length - a.length)) {
    const hash = hashOf(piece);
    isStart[hash] = 1;
    const bucket = buckets.get(hash);
    if (bucket === undefined) buckets.set(hash, [piece]);
    else bucket.push(piece);
  }

  function* occurrences(text: string, from = 0): Generator<{ start: number; end: number }> {
    let work = workPerSearch + 2 * text.length;
    let free = from;
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
    replacePart(text, part, replacement) {
      const parts: string[] = [];
      let { from } = part;
      for (const { start, end } of occurrences(text, from)) {
        if (start >= part.limit) break;
        parts.push(text.slice(from, start), replacement);
        from = end;
      }
      const end = Math.max(from, part.limit);
      return { text: parts.join('') + text.slice(from, end), end };
    },
  };
}

/** The error when a search exceeds its budget before the end of the text. */
function refused(): RedactionRefused {
  return new RedactionRefused(
    'The text contains too many partial matches of the credentials to be searched within the limits.',
  );
}

/** Each step shifts the hash by four bits per character, so after four steps an earlier character has no effect. */
function hashOf(piece: string): number {
  let hash = 0;
  for (let at = 0; at < shortestPiece; at += 1) hash = ((hash << 4) ^ piece.charCodeAt(at)) & 0xffff;
  return hash;
}
