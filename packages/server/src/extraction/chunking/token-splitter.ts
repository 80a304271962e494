import { countTokens, mapTokens, type TokenMap } from './tokens.ts';

/** A piece of a text: the characters from `start` to before `end`, without blanks at its ends. */
export interface TextPiece {
  readonly start: number;
  readonly end: number;
  readonly numTokens: number;
}

export interface TokenSizes {
  /** The maximum tokens of a cut. */
  readonly size: number;
  /** Tokens that a cut shares with the previous one; at most half of the size. */
  readonly overlap: number;
}

/**
 * Splits a text of n tokens into K = ⌈(n − overlap) / (size − overlap)⌉ pieces of nearly equal size. Words of up to 16
 * tokens stay whole, so a text that fills its pieces completely may need one more piece.
 */
export function* splitByTokens(text: string, sizes: TokenSizes): Generator<TextPiece> {
  const map = mapTokens(text);
  const last = map.numCuts - 1;
  let from = 0;
  let reached = 0;
  while (from < last) {
    let to = lastCutWithin(map, from, map.tokens(from) + nextSize(map.tokens(last) - map.tokens(from), sizes));
    let cut = trimmed(text, map.offset(from), map.offset(to));
    // Without the preceding text, a word may take more tokens than within the text.
    while (cut !== null && cut.numTokens > sizes.size && to > from + 1) {
      const excess = cut.numTokens - sizes.size;
      to = Math.max(from + 1, Math.min(to - 1, lastCutWithin(map, from, map.tokens(to) - excess)));
      cut = trimmed(text, map.offset(from), map.offset(to));
    }
    // A piece that starts in the overlap may end before the text that is new: the next one starts later.
    if (cut !== null && cut.end > reached) {
      reached = cut.end;
      yield cut;
    }
    if (to >= last) return;
    from = Math.max(from + 1, firstCutFrom(map, to, map.tokens(to) - sizes.overlap));
  }
}

/** Spreads the remaining tokens evenly over the pieces they need. */
function nextSize(remaining: number, { size, overlap }: TokenSizes): number {
  const pieces = Math.max(1, Math.ceil((remaining - overlap) / (size - overlap)));
  return Math.min(size, Math.ceil((remaining + (pieces - 1) * overlap) / pieces));
}

function trimmed(text: string, start: number, end: number): TextPiece | null {
  const slice = text.slice(start, end);
  const content = slice.trim();
  if (content === '') return null;
  const from = start + (slice.length - slice.trimStart().length);
  return { start: from, end: from + content.length, numTokens: countTokens(content) };
}

/** Returns the last cut with at most `tokens` tokens before it, but at least one cut after `from`. */
function lastCutWithin(map: TokenMap, from: number, tokens: number): number {
  let low = from + 1;
  let high = map.numCuts - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (map.tokens(middle) <= tokens) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the first cut with at least `tokens` tokens before it, at most `to`. */
function firstCutFrom(map: TokenMap, to: number, tokens: number): number {
  let cut = to;
  while (cut > 0 && map.tokens(cut - 1) >= tokens) cut -= 1;
  return cut;
}
