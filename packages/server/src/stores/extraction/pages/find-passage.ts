/** The letters and digits of a text in lower case, without blanks, marks and punctuation. */
export interface Letters {
  readonly text: string;
  /** For each UTF-16 code unit of `text`, the number of the character that it comes from. */
  readonly places: readonly number[];
}

/** Letters of the pages that also stand in the passage. `start` is an index in the letters of the pages. */
export interface Run {
  readonly start: number;
  readonly length: number;
}

/** A run begins with at least this many equal letters. Shorter pieces occur by chance. */
const seedLength = 12;
/** The number of occurrences of a beginning that are compared. */
const mostCandidates = 64;
/** A stretch that differs, such as a word that was hyphenated, belongs to the passage if it is not longer than in the passage by more. */
const mostSurplus = 12;

/** @param codes the characters, such as the code points of a page */
export function lettersOf(codes: Iterable<number>, mostLetters: number): Letters {
  const places: number[] = [];
  let text = '';
  let place = 0;
  for (const code of codes) {
    const letters = simplify(code);
    for (let unit = 0; unit < letters.length; unit += 1) places.push(place);
    text += letters;
    place += 1;
    if (text.length >= mostLetters) break;
  }
  return { text, places };
}

/** Readers join lines, remove hyphens and resolve ligatures. Letters and digits alone stay the same. */
function simplify(code: number): string {
  if (code < 128) return asciiLetters[code] ?? '';
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '';
  return String.fromCodePoint(code)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const asciiLetters = Array.from({ length: 128 }, (_, code) =>
  String.fromCharCode(code)
    .toLowerCase()
    .replace(/[^a-z0-9]/, ''),
);

/**
 * Finds where the letters of a passage stand in those of pages: from its beginning on, the longest piece that occurs in
 * the pages, then what follows it. The order of the pieces may differ, because readers put columns and notes in order.
 */
export function findPassage(passage: string, pages: string): Run[] {
  const seed = Math.min(seedLength, passage.length);
  if (seed === 0) return [];
  const occurrences = indexOf(pages, seed);
  const runs: Array<Run & { readonly at: number }> = [];
  for (let at = 0; at + seed <= passage.length; ) {
    const last = runs.at(-1);
    const candidates = occurrences.get(passage.slice(at, at + seed)) ?? [];
    const run = longestRun(passage, pages, {
      at,
      candidates,
      after: last === undefined ? 0 : last.start + last.length,
    });
    if (run !== undefined) runs.push({ ...run, at });
    at += run?.length ?? 1;
  }
  return runs.map((run, index) => {
    const next = runs[index + 1];
    const end = run.start + run.length;
    const omitted = next === undefined ? 0 : next.at - (run.at + run.length);
    const isNear = next !== undefined && next.start >= end && next.start - end <= omitted + mostSurplus;
    return { start: run.start, length: isNear && omitted > 0 ? next.start - run.start : run.length };
  });
}

function indexOf(text: string, length: number): Map<string, number[]> {
  const index = new Map<string, number[]>();
  for (let at = 0; at + length <= text.length; at += 1) {
    const key = text.slice(at, at + length);
    const known = index.get(key);
    if (known === undefined) index.set(key, [at]);
    else if (known.length < mostCandidates) known.push(at);
  }
  return index;
}

interface Search {
  readonly at: number;
  readonly candidates: readonly number[];
  /** Of runs of equal length, the first one from here on is taken. */
  readonly after: number;
}

function longestRun(passage: string, pages: string, { at, candidates, after }: Search): Run | undefined {
  let best: Run | undefined;
  for (const start of candidates) {
    let length = 0;
    while (at + length < passage.length && passage[at + length] === pages[start + length]) length += 1;
    const isBetter = best === undefined || length > best.length;
    const isNearer = best !== undefined && length === best.length && best.start < after && start >= after;
    if (isBetter || isNearer) best = { start, length };
  }
  return best;
}
