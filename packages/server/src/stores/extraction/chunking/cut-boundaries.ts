import type { TokenMap } from '../tokens.ts';

/** The range in which a piece may end: after the cut `after`, at most at `most`, and as near to `wanted` as possible. */
export interface CutRange {
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
export function findBoundary(text: string, map: TokenMap, range: CutRange): number | undefined {
  const { from, after, wanted, most } = range;
  const least = map.tokens(wanted) - sentenceShare * (map.tokens(wanted) - map.tokens(from));
  const first = Math.max(after + 1, lowestFrom(map, { from: after + 1, to: wanted, tokens: least }));
  return (
    nearest(map, { wanted, first, most }, (cut) => endsSentence(text, map.offset(cut))) ??
    nearest(map, { wanted, first: after + 1, most }, (cut) => isBetweenWords(text, map.offset(cut)))
  );
}

/** Returns the last cut up to `wanted` that is beside punctuation, for a text without spaces; otherwise `wanted`. */
export function findSign(text: string, map: TokenMap, { after, wanted }: Pick<CutRange, 'after' | 'wanted'>): number {
  for (let cut = wanted; cut > after; cut--) {
    const offset = map.offset(cut);
    if (!ofWord.test(text.charAt(offset - 1)) || !ofWord.test(text.charAt(offset))) return cut;
  }
  return wanted;
}

/** Returns whether an offset is not within a word. */
export function isBetweenWords(text: string, offset: number): boolean {
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
