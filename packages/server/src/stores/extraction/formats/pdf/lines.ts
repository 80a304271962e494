import type { PageSegments } from './read-segments.ts';
import type { Segment } from './segment-draft.ts';

/** Pieces on one baseline that belong together: a line of text, or the first lines of the cells of a row. */
export interface Line extends Omit<Segment, 'text'> {
  readonly segments: readonly Segment[];
}

/** The maximum number of earlier lines in which the first cell of a row is searched. */
const lookBack = 15;
const label = /^(?:[•‣◦▪–—*·∙-]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)]|[0-9]{1,2}(?:\.[0-9]{1,3})+\.?)$/;

/**
 * Combines pieces into lines, in the order of the file. Columns that were written line by line across the page are read
 * one after another.
 */
export function toLines(page: PageSegments): Line[] {
  if (page.turned) return page.segments.map((segment) => toLine([{ ...segment, turned: false }]));
  const groups: Segment[][] = [];
  for (const segment of byColumn(page.rightToLeft ? mirrored(page) : page)) {
    const row = findRow(groups, segment);
    if (row === undefined) groups.push([segment]);
    else row.push(segment);
  }
  return fromTop(groups.map((group) => toLine(withoutLabels(group))));
}

/** The number of next lower lines that are checked for a position beside a line. */
const mostBeside = 8;

/**
 * Sorts the lines of a page from the top, unless some stand side by side. Programs may draw a page in another order than it is read, such
 * as the footer first. With columns, the order of the file tells which line follows.
 */
function fromTop(lines: Line[]): Line[] {
  if (lines.every(({ y }, at) => at === 0 || y <= (lines[at - 1]?.y ?? y))) return lines;
  const sorted = lines.toSorted((a, b) => b.y - a.y);
  const isAlone = sorted.every((line, at) =>
    sorted.slice(at + 1, at + 1 + mostBeside).every((other) => {
      const isNear = line.y - other.y < 1.5 * Math.max(line.size, other.size);
      return !isNear || (other.left < line.right && line.left < other.right);
    }),
  );
  return isAlone && !lines.some(({ turned }) => turned) ? sorted : lines;
}

/** Columns and indentation of a page that is read from right to left are those of the page seen in a mirror. */
function mirrored(page: PageSegments): PageSegments {
  const { width, segments } = page;
  const seen = segments.map((segment) => ({ ...segment, left: width - segment.right, right: width - segment.left }));
  return { ...page, segments: seen };
}

function findRow(groups: readonly Segment[][], segment: Segment): Segment[] | undefined {
  for (let back = 1; back <= Math.min(lookBack, groups.length); back += 1) {
    const group = groups[groups.length - back];
    const last = group?.at(-1);
    if (group === undefined || last === undefined) return undefined;
    const isBeside =
      Math.abs(last.y - segment.y) < 0.5 * Math.min(last.size, segment.size) && segment.left > last.right;
    if (isBeside) return back === 1 || group.length > 1 ? group : undefined;
  }
  return undefined;
}

/** A number or bullet before a line is part of it, not a cell. */
function withoutLabels(group: readonly Segment[]): readonly Segment[] {
  const [first, second, ...others] = group;
  if (first === undefined || second === undefined || others.length > 0) return group;
  if (!label.test(first.text) || second.left - first.right > 4 * first.size) return group;
  return [{ ...second, left: first.left, text: `${first.text} ${second.text}` }];
}

function toLine(segments: readonly Segment[]): Line {
  const [only, ...others] = segments;
  if (only !== undefined && others.length === 0) {
    const { left, right, y, size, bold, mono, turned = false, hyphen } = only;
    return { segments, left, right, y, size, bold, mono, turned, hyphen };
  }
  const weigh = (segment: Segment) => segment.text.length;
  const all = segments.reduce((sum, segment) => sum + weigh(segment), 0);
  const share = (has: (segment: Segment) => boolean) =>
    segments.filter(has).reduce((sum, segment) => sum + weigh(segment), 0) / all;
  const longest = segments.reduce((most, segment) => (weigh(segment) > weigh(most) ? segment : most));
  return {
    segments,
    left: segments.reduce((least, segment) => Math.min(least, segment.left), Number.POSITIVE_INFINITY),
    right: segments.reduce((most, segment) => Math.max(most, segment.right), Number.NEGATIVE_INFINITY),
    y: segments[0]?.y ?? 0,
    size: longest.size,
    bold: share((segment) => segment.bold) > 0.8,
    mono: share((segment) => segment.mono) > 0.8,
    turned: segments.every((segment) => segment.turned === true),
    hyphen: segments.at(-1)?.hyphen ?? false,
  };
}

/**
 * Detects two columns that were written across the page: long pieces left and right of a gutter alternate on the same
 * baselines. Cells of tables are written in sequence, or are short.
 */
function byColumn({ segments, width }: PageSegments): readonly Segment[] {
  let alternations = 0;
  const gutters: number[] = [];
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
    if (next === undefined || Math.abs(next.y - segment.y) > 1) continue;
    const isLong = Math.min(segment.right - segment.left, next.right - next.left) > 0.22 * width;
    if (!isLong || next.left <= segment.right) continue;
    alternations += 1;
    gutters.push((segment.right + next.left) / 2);
  }
  if (alternations < 5) return segments;
  const gutter = gutters.sort((a, b) => a - b)[gutters.length >> 1] ?? width / 2;
  const crossing = segments.filter((segment) => segment.left < gutter - 5 && segment.right > gutter + 5);
  if (crossing.length > segments.length * 0.2) return segments;
  return inBands(segments, { gutter, crossing: new Set(crossing) });
}

/**
 * A piece that crosses the gutter, such as a title, divides the page into bands. Each band is read left, then right.
 */
function inBands(
  segments: readonly Segment[],
  { gutter, crossing }: { gutter: number; crossing: ReadonlySet<Segment> },
): Segment[] {
  const result: Segment[] = [];
  let left: Segment[] = [];
  let right: Segment[] = [];
  const flush = () => {
    for (const segment of [...left, ...right]) result.push(segment);
    left = [];
    right = [];
  };
  for (const segment of segments) {
    if (crossing.has(segment)) {
      flush();
      result.push(segment);
    } else if (segment.left < gutter) left.push(segment);
    else right.push(segment);
  }
  flush();
  return result;
}

export function textOf(line: Line): string {
  return line.segments.map((segment) => segment.text).join(' ');
}
