import { countTokens, mapTokens, type TokenMap } from '../tokens.ts';
import { findBoundary, findSign, isBetweenWords } from './cut-boundaries.ts';

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
 * Splits a text of n tokens into about K = ⌈(n − overlap) / (size − overlap)⌉ pieces of similar size. A piece ends with a sentence if
 * one ends near the wanted size, and otherwise between words. Only a word that is longer than a piece is cut.
 */
export function* splitByTokens(text: string, sizes: TokenSizes): Generator<TextPiece> {
  const map = mapTokens(text);
  const last = map.numCuts - 1;
  let [from, reached, end] = [0, 0, 0];
  while (reached < last) {
    const fitted = fitPiece(text, map, { from, reached, sizes });
    if (fitted === null) {
      // The word fits only into a piece without the overlap.
      from = reached;
      continue;
    }
    const { piece, to } = fitted;
    if (piece !== null && piece.end > end) {
      end = piece.end;
      yield piece;
    }
    reached = to;
    from = firstCutFrom(map, to, map.tokens(to) - sizes.overlap);
    while (from < to && !isBetweenWords(text, map.offset(from))) from++;
  }
}

interface PieceStart {
  readonly from: number;
  /** The last cut of the previous pieces. */
  readonly reached: number;
  readonly sizes: TokenSizes;
}

/** Returns the next piece and its last cut. Null when the next word does not fit into a piece together with the overlap. */
function fitPiece(text: string, map: TokenMap, { from, reached, sizes }: PieceStart) {
  const last = map.numCuts - 1;
  const start = map.tokens(from);
  let wanted = lastCutWithin(map, from, start + nextSize(map.tokens(last) - start, sizes));
  let most = lastCutWithin(map, from, start + sizes.size);
  for (;;) {
    const boundary = wanted === last ? last : findBoundary(text, map, { from, after: reached, wanted, most });
    if (boundary === undefined && from < reached) return null;
    const to = boundary ?? findSign(text, map, { after: reached, wanted });
    const piece = trimmed(text, map.offset(from), map.offset(to));
    if (piece === null || piece.numTokens <= sizes.size || to <= from + 1) return { piece, to };
    // Without the preceding text, a word may take more tokens than within the text.
    const excess = piece.numTokens - sizes.size;
    most = Math.max(from + 1, Math.min(to - 1, lastCutWithin(map, from, map.tokens(to) - excess)));
    wanted = most;
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
