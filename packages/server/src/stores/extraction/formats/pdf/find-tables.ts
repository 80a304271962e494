import type { Line } from './lines.ts';
import type { Segment } from './segment-draft.ts';

/** A region of a page: text lines or the rows of a table. */
export type Region =
  | { readonly kind: 'lines'; readonly lines: readonly Line[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[]; readonly lines: readonly Line[] };

interface Column {
  left: number;
  right: number;
}

/** Finds tables by alignment: lines of several pieces, and the continuation lines of their cells. */
export function findTables(lines: readonly Line[]): Region[] {
  const regions: Region[] = [];
  let text: Line[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = tableEnd(lines, at);
    const table = end > at ? toTable(lines.slice(at, end)) : undefined;
    const line = lines[at];
    if (table === undefined) {
      if (line !== undefined) text.push(line);
      at += 1;
      continue;
    }
    if (text.length > 0) regions.push({ kind: 'lines', lines: text });
    text = [];
    regions.push(table);
    at = end;
  }
  if (text.length > 0) regions.push({ kind: 'lines', lines: text });
  return regions;
}

/** Returns where the lines that look like one table end; `from` when no table begins there. */
function tableEnd(lines: readonly Line[], from: number): number {
  if ((lines[from]?.segments.length ?? 0) < 2) return from;
  let end = from + 1;
  const columns = columnsOf(lines.slice(from, end));
  while (end < lines.length) {
    const line = lines[end];
    const above = lines[end - 1];
    if (line === undefined || above === undefined) break;
    const step = above.y - line.y;
    const isFar = step > 4 * Math.max(line.size, above.size) || step < -above.size * 14;
    if (isFar || !fits(line, columns)) break;
    end += 1;
    for (const segment of line.segments) widen(columns, segment);
  }
  return end;
}

function fits(line: Line, columns: readonly Column[]): boolean {
  const touched = line.segments.map((segment) => columns.filter((column) => overlaps(segment, column)).length);
  if (touched.some((count) => count > 1)) return false;
  if (line.segments.length > 1) return touched.filter((count) => count === 1).length >= 2;
  // A single piece continues a cell, unless it begins in the first column: that is text after the table.
  const [only] = line.segments;
  const [first, ...others] = columns;
  if (only === undefined || first === undefined) return false;
  return others.some((column) => Math.abs(column.left - only.left) < 4 && only.left > first.right);
}

function overlaps(a: Column, b: Column): boolean {
  return a.left < b.right && b.left < a.right;
}

function columnsOf(lines: readonly Line[]): Column[] {
  const columns: Column[] = [];
  for (const line of lines) for (const segment of line.segments) widen(columns, segment);
  return columns;
}

/** Keeps the columns in order; columns that a piece spans are merged. */
function widen(columns: Column[], { left, right }: Segment): void {
  const first = columns.findIndex((column) => column.right > left);
  if (first === -1) columns.push({ left, right });
  else {
    const touched = columns.filter((column) => overlaps({ left, right }, column));
    const column = {
      left: touched.reduce((least, other) => Math.min(least, other.left), left),
      right: touched.reduce((most, other) => Math.max(most, other.right), right),
    };
    columns.splice(first, touched.length, column);
  }
}

/**
 * A table has at least two rows and two columns. Two columns need three rows, so that text with a gap is not a table.
 */
function toTable(lines: readonly Line[]): (Region & { kind: 'table' }) | undefined {
  const columns = columnsOf(lines);
  const wide = lines.filter((line) => line.segments.length > 1).length;
  if (columns.length < 2 || wide < 2 || (columns.length === 2 && wide < 3)) return undefined;
  const rows: string[][] = [];
  let above: Line | undefined;
  for (const line of lines) {
    const cells = columns.map((column) => textIn(line.segments, column));
    const row = rows.at(-1);
    const goesOn = above !== undefined && cells[0] === '' && line.segments.length === 1;
    if (row === undefined || !goesOn) rows.push(cells);
    else for (const [index, cell] of cells.entries()) if (cell !== '') row[index] = joined(row[index] ?? '', cell);
    above = line;
  }
  return { kind: 'table', rows, lines };
}

function joined(before: string, cell: string): string {
  return before === '' ? cell : `${before}\n${cell}`;
}

function textIn(segments: readonly Segment[], column: Column): string {
  return segments
    .filter((segment) => overlaps(segment, column))
    .map((segment) => segment.text)
    .join(' ');
}
