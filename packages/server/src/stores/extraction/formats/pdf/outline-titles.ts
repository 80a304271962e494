import { type Line, textOf } from './lines.ts';
import { keyOf, type Outline, type OutlineEntry, withoutNumber } from './outline.ts';
import type { PageLines } from './running-heads.ts';

/** The lines of a heading that a bookmark names. */
export interface Title {
  readonly level: number;
  readonly lines: readonly Line[];
}

export interface OutlineTitles {
  /** The heading that begins with this line. */
  startingWith(line: Line): Title | undefined;
  readonly count: number;
}

/** The most lines of one heading. */
const mostLines = 3;
/** The most bookmarks of a page whose title is compared with lines that differ. */
const mostCompared = 50;
/** The most places of one text on a page that are compared. */
const mostPlaces = 20;

/** Finds the lines of the bookmarks' titles on the pages to which the bookmarks lead. */
export function findOutlineTitles(pages: readonly PageLines[], { entries }: Outline): OutlineTitles {
  const wanted = new Map<number, OutlineEntry[]>();
  for (const entry of entries) {
    const ofPage = wanted.get(entry.page);
    if (ofPage === undefined) wanted.set(entry.page, [entry]);
    else ofPage.push(entry);
  }
  const titles = new Map<Line, Title>();
  const taken = new Set<Line>();
  for (const { page, lines } of pages) {
    const ofPage = wanted.get(page);
    if (ofPage === undefined) continue;
    const places = placesByKey(lines);
    for (const [index, entry] of ofPage.entries()) {
      const found = nearest(entry, places, taken) ?? (index < mostCompared ? similar(entry, lines, taken) : undefined);
      const [first] = found ?? [];
      if (found === undefined || first === undefined) continue;
      titles.set(first, { level: Math.min(entry.level, 6), lines: found });
      for (const line of found) taken.add(line);
    }
  }
  return { startingWith: (line) => titles.get(line), count: titles.size };
}

/** Returns the runs of lines of a page by their text, with and without the number of a heading. */
function placesByKey(lines: readonly Line[]): Map<string, (readonly Line[])[]> {
  const places = new Map<string, (readonly Line[])[]>();
  for (const index of lines.keys()) {
    for (let length = 1; length <= mostLines && index + length <= lines.length; length += 1) {
      const run = lines.slice(index, index + length);
      for (const key of keysOf(run.map(textOf).join(' '))) {
        const known = places.get(key);
        if (known === undefined) places.set(key, [run]);
        else if (known.length < mostPlaces) known.push(run);
      }
    }
  }
  return places;
}

/** A first word with a digit, such as "5章" or "A.1", is a number. */
function keysOf(text: string): ReadonlySet<string> {
  const cut = text.slice(0, longestTitle);
  const [first = ''] = cut.split(' ', 1);
  const isNumber = first.length <= 12 && /\p{Nd}/u.test(first);
  const keys = [keyOf(cut), keyOf(withoutNumber(cut)), ...(isNumber ? [keyOf(cut.slice(first.length))] : [])];
  return new Set(keys.filter((key) => key !== ''));
}
const longestTitle = 400;

/** Returns the place that is nearest to the destination; the one with the largest type when there is no height. */
function nearest(
  { title, y }: OutlineEntry,
  places: ReadonlyMap<string, readonly (readonly Line[])[]>,
  taken: ReadonlySet<Line>,
): readonly Line[] | undefined {
  const [exact, ...others] = [...keysOf(title)].map((key) =>
    (places.get(key) ?? []).filter((run) => !run.some((line) => taken.has(line) || line.turned === true)),
  );
  const found = [exact, ...others].find((runs) => runs !== undefined && runs.length > 0) ?? [];
  const rank = ([first]: readonly Line[]) =>
    first === undefined ? Number.POSITIVE_INFINITY : y === undefined ? -first.size : Math.abs(first.y - y);
  return found.reduce<readonly Line[] | undefined>(
    (best, run) => (best === undefined || rank(run) < rank(best) ? run : best),
    undefined,
  );
}

/**
 * Returns the lines at the destination that are most like the title. They may differ from it, for example because the font
 * names wrong letters.
 */
function similar(
  { title, y }: OutlineEntry,
  lines: readonly Line[],
  taken: ReadonlySet<Line>,
): readonly Line[] | undefined {
  if (y === undefined) return undefined;
  const wanted = pairsOf(title);
  let best: readonly Line[] | undefined;
  let most = leastSimilar;
  for (const [index, line] of lines.entries()) {
    if (line.y > y + aboveDestination || line.y < y - belowDestination) continue;
    for (let length = 1; length <= mostLines && index + length <= lines.length; length += 1) {
      const run = lines.slice(index, index + length);
      if (run.some((other) => taken.has(other) || other.turned === true)) break;
      const found = pairsOf(run.map(textOf).join(' ').slice(0, longestTitle));
      const share = (2 * [...found].filter((pair) => wanted.has(pair)).length) / (found.size + wanted.size);
      if (share > most) [best, most] = [run, share];
    }
  }
  return best;
}
/** Points from the destination to the baseline of the title. */
const aboveDestination = 6;
const belowDestination = 48;
const leastSimilar = 0.7;

/** Returns the pairs of letters that stand side by side. */
function pairsOf(text: string): ReadonlySet<string> {
  const key = keyOf(withoutNumber(text));
  return new Set(Array.from({ length: Math.max(0, key.length - 1) }, (_, at) => key.slice(at, at + 2)));
}
