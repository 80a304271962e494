import type { Line } from './lines.ts';

export interface PageLines {
  /** From 1. */
  readonly page: number;
  readonly height: number;
  readonly lines: readonly Line[];
}

/** The maximum distance of a running head from the edge, as a share of the page height. */
const margin = 0.13;
const fewestPages = 3;
/** The number of pages to compare. A running head may change with the chapter. */
const reach = 12;

/**
 * Removes text that repeats at the same height at the edge of pages: headers, footers and page numbers.
 * @returns the pages without them, and the number of removed characters.
 */
export function removeRunningHeads(pages: readonly PageLines[]): { pages: PageLines[]; dropped: number } {
  const places = new Map<string, Set<number>>();
  const edges = pages.map((page) => edgeLines(page));
  for (const [index, { page }] of pages.entries()) {
    for (const { key } of edges[index] ?? []) {
      const on = places.get(key);
      if (on === undefined) places.set(key, new Set([page]));
      else on.add(page);
    }
  }
  let dropped = 0;
  const remaining = pages.map((page, index) => {
    const removed = new Set<Line>();
    for (const { key, line } of edges[index] ?? []) if (repeats(key, places, page.page)) removed.add(line);
    for (const line of removed) dropped += textOf(line).length;
    return removed.size === 0 ? page : { ...page, lines: page.lines.filter((line) => !removed.has(line)) };
  });
  return { pages: remaining, dropped };
}

interface Edge {
  readonly line: Line;
  readonly key: string;
}

/**
 * Returns the two outermost lines at the top and at the bottom. In the outermost line all numbers count as equal. The
 * inner line may already be text.
 */
function edgeLines({ lines, height }: PageLines): Edge[] {
  const sorted = lines
    .filter((line) => line.y < height * margin || line.y > height * (1 - margin))
    .sort((a, b) => b.y - a.y);
  const top = sorted.filter((line) => line.y > height / 2).slice(0, 2);
  const bottom = sorted.filter((line) => line.y <= height / 2).reverse();
  return [top, bottom.slice(0, 2)].flatMap((side) =>
    side.map((line) => ({ line, key: Math.abs(line.y - (side[0]?.y ?? 0)) < 2 ? numberedKey(line) : exactKey(line) })),
  );
}

function repeats(key: string, places: ReadonlyMap<string, ReadonlySet<number>>, page: number): boolean {
  const on = places.get(key);
  let near = 0;
  for (let other = page - reach; other <= page + reach; other += 1) if (on?.has(other) === true) near += 1;
  return near >= (key.endsWith(' #') ? 2 : fewestPages);
}

/** The key includes the approximate height. */
function exactKey(line: Line): string {
  return `${heightOf(line)} ${textOf(line).toLowerCase()}`;
}

function heightOf(line: Line): number {
  return Math.round(line.y / 4);
}

/** All numbers count as equal, also Roman numerals. */
function numberedKey(line: Line): string {
  const text = textOf(line)
    .toLowerCase()
    .replace(/\p{Nd}+/gu, '#');
  return `${heightOf(line)} ${text}`.replace(/ [ivxlcdm]+$/, ' #');
}

function textOf(line: Line): string {
  return line.segments.map((segment) => segment.text).join(' ');
}
