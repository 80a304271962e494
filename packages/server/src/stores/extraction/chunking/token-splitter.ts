import { countTokens, mapTokens, type TokenMap } from '../tokens.ts';

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
  let [from, reached, start, end] = [0, 0, -1, 0];
  while (reached < last) {
    const fitted = fitPiece(text, map, { from, reached, sizes });
    if (fitted === null || (fitted.piece !== null && fitted.piece.start <= start)) {
      // The word fits only into a piece without the overlap, or the overlap would be the whole piece before.
      from = reached;
      continue;
    }
    const { piece, to } = fitted;
    if (piece !== null && piece.end > end) {
      [start, end] = [piece.start, piece.end];
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

/** The range in which a piece may end: after the cut `after`, at most at `most`, and as near to `wanted` as possible. */
interface CutRange {
  readonly from: number;
  readonly after: number;
  readonly wanted: number;
  readonly most: number;
}

/** A sentence may end this share of the wanted tokens before the wanted cut. */
const sentenceShare = 0.25;
const blank = /\s/;
/** Characters of scripts without blanks between words, and their punctuation. */
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uff65]/u;
const ofWord = /[\p{L}\p{N}\p{M}_]/u;
const closing = new Set('"\'”’)]»」』）');
const mostClosing = 3;
const fullStops = new Set('.!?…؟।॥۔');
const wideStops = new Set('。！？');
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
/** The characters on each side from which the segmenter finds the words of a script without blanks. */
const around = 32;

/** Returns the cut at the end of a sentence, or else of a word. Undefined when all of these characters belong to one word. */
function findBoundary(text: string, map: TokenMap, range: CutRange): number | undefined {
  const { from, after, wanted, most } = range;
  const least = map.tokens(wanted) - sentenceShare * (map.tokens(wanted) - map.tokens(from));
  const first = Math.max(after + 1, lowestFrom(map, { from: after + 1, to: wanted, tokens: least }));
  return (
    nearest(map, { wanted, first, most }, (cut) => endsSentence(text, map.offset(cut))) ??
    nearest(map, { wanted, first: after + 1, most }, (cut) => isBetweenWords(text, map.offset(cut)))
  );
}

/** Returns the last cut up to `wanted` that is beside punctuation, for a text without spaces; otherwise `wanted`. */
function findSign(text: string, map: TokenMap, { after, wanted }: Pick<CutRange, 'after' | 'wanted'>): number {
  for (let cut = wanted; cut > after; cut--) {
    const offset = map.offset(cut);
    if (!ofWord.test(text.charAt(offset - 1)) || !ofWord.test(text.charAt(offset))) return cut;
  }
  return wanted;
}

/** Returns whether an offset is not within a word. */
function isBetweenWords(text: string, offset: number): boolean {
  const [before, after] = [text.charAt(offset - 1), text.charAt(offset)];
  if (blank.test(before) || blank.test(after)) return true;
  if (!wide.test(before) && !wide.test(after)) return false;
  const start = Math.max(0, offset - around);
  const found = segmenter.segment(text.slice(start, offset + around)).containing(offset - start);
  return found === undefined || found.index === offset - start;
}

function endsSentence(text: string, offset: number): boolean {
  const after = text.charAt(offset);
  if (after === '\n' && text.charAt(offset + 1) === '\n') return true;
  let at = offset - 1;
  while (at > 0 && offset - at <= mostClosing && closing.has(text.charAt(at))) at--;
  const stop = text.charAt(at);
  return wideStops.has(stop) || (fullStops.has(stop) && blank.test(after));
}

interface Cuts {
  readonly wanted: number;
  readonly first: number;
  readonly most: number;
}

/** Returns the suitable cut with the smallest distance in tokens. Of two equal ones, returns the earlier. */
function nearest(
  map: TokenMap,
  { wanted, first, most }: Cuts,
  isSuitable: (cut: number) => boolean,
): number | undefined {
  let before = wanted;
  while (before >= first && !isSuitable(before)) before--;
  if (before < first) before = -1;
  const distance = before < 0 ? Number.POSITIVE_INFINITY : map.tokens(wanted) - map.tokens(before);
  for (let cut = wanted + 1; cut <= most && map.tokens(cut) - map.tokens(wanted) < distance; cut++)
    if (isSuitable(cut)) return cut;
  return before < 0 ? undefined : before;
}

/** Returns the first cut of a range with at least as many tokens before it. */
function lowestFrom(map: TokenMap, { from, to, tokens }: { from: number; to: number; tokens: number }): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (map.tokens(middle) >= tokens) high = middle;
    else low = middle + 1;
  }
  return low;
}
