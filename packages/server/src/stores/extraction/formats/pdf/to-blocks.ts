import type { Block } from '../../document.ts';
import type { HeadingStyles } from './heading-styles.ts';
import type { LineJoiner } from './join-lines.ts';
import { type Line, textOf } from './lines.ts';
import type { OutlineTitles, Title } from './outline-titles.ts';
import type { PageLines } from './running-heads.ts';
import type { Segment } from './segment-draft.ts';

interface Context {
  readonly joiner: LineJoiner;
  readonly styles: HeadingStyles;
  readonly titles: OutlineTitles;
}

/** A block with the facts that the next page needs. */
export interface PdfBlock extends Block {
  /** Small print at the foot of the page. */
  readonly isNote: boolean;
}

const item = /^(?:[•‣◦▪∙]|[–—*-](?=\s)|\(?[0-9]{1,3}[.)](?=\s)|\(?[a-zA-Z][.)](?=\s))/;
const sentenceEnd = /[.!?:;。！？：；…»”"')\]]$/;

/** The dots of a table of contents. */
const leader = /(?:\s?\.){4,}\s*/;

function isLeader(text: string): boolean {
  return leader.test(text) && /\p{Nd}$/u.test(text);
}

export function toBlocks({ page, lines }: PageLines, context: Context): PdfBlock[] {
  const blocks: PdfBlock[] = [];
  for (const part of aroundTitles(lines, context.titles)) {
    if ('level' in part) blocks.push(titleBlock(part, { page, ...context }));
    else
      for (const region of findTables(part))
        for (const block of regionBlocks(region, context, page)) blocks.push(block);
  }
  return blocks;
}

/** The titles of bookmarks among the other lines of a page. */
function aroundTitles(lines: readonly Line[], titles: OutlineTitles): (Title | Line[])[] {
  const parts: (Title | Line[])[] = [];
  let others: Line[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const title = line === undefined ? undefined : titles.startingWith(line);
    if (title !== undefined) {
      parts.push(others, title);
      others = [];
      at += title.lines.length - 1;
    } else if (line !== undefined) others.push(line);
  }
  return [...parts, others];
}

function titleBlock({ level, lines }: Title, { page, joiner }: Context & { page: number }): PdfBlock {
  const text = joiner.join(lines.map((line) => ({ text: textOf(line), hyphen: line.hyphen })));
  return { kind: 'heading', level, text, page, isNote: false };
}

function regionBlocks(region: Region, context: Context, page: number): PdfBlock[] {
  if (region.kind === 'table') return [{ ...tableBlock(region.rows, context), page, isNote: false }];
  return groupLines(region.lines, context).map((group) => toBlock(group, { page, ...context }));
}

function tableBlock(rows: readonly (readonly string[])[], { joiner }: Context): Block {
  const flat = rows.map((cells) =>
    cells.map((cell) => withoutLeader(joiner.join(cell.split('\n').map((text) => ({ text, hyphen: false }))))),
  );
  return { kind: 'table', text: flat.map((cells) => cells.join(' | ')).join('\n'), headerRows: 1 };
}

function withoutLeader(text: string): string {
  return text.replace(leader, ' … ').trim();
}

/** Groups the lines of a paragraph, a heading or a piece of code. */
function groupLines(lines: readonly Line[], { styles }: Context): Line[][] {
  const groups: Line[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    const above = group?.at(-1);
    if (group !== undefined && above !== undefined && goesOn(above, { line, group, styles })) group.push(line);
    else groups.push([line]);
  }
  return groups;
}

function goesOn(above: Line, { line, group, styles }: { line: Line; group: readonly Line[]; styles: HeadingStyles }) {
  const step = above.y - line.y;
  const size = Math.max(above.size, line.size);
  if (step <= 0 || step > usualStep(group, above, size) * 1.28) return false;
  if (isLeader(textOf(above))) return false;
  if (line.mono && group.every((other) => other.mono)) return true;
  // A line of a paragraph may consist of one name in a monospaced font.
  if (above.mono !== line.mono && (step > 1.35 * size || Math.abs(above.left - line.left) > 2)) return false;
  if (above.mono === line.mono && Math.abs(above.size - line.size) > 0.08 * size) return false;
  // A hyphenated word continues in the next line, whatever its style.
  if (above.hyphen && above.mono === line.mono) return true;
  if (above.bold !== line.bold) return false;
  if (styles.isHeading(above) !== styles.isHeading(line)) return false;
  const text = textOf(line);
  if (item.test(text) && !/[-\u2010\u2011]$/.test(textOf(above))) return false;
  const isIndented = line.left > above.left + 0.9 * size && group.length > 1;
  return !(isIndented && sentenceEnd.test(textOf(above)));
}

/** The line spacing of the group so far; for a single line, the usual spacing of its size. */
function usualStep(group: readonly Line[], above: Line, size: number): number {
  const [first] = group;
  if (first === undefined || group.length < 2) return 1.5 * size;
  return Math.max((first.y - above.y) / (group.length - 1), size);
}

function toBlock(group: readonly Line[], { page, joiner, styles }: Context & { page: number }): PdfBlock {
  const [first] = group;
  const isNote = styles.isSmall(first);
  const text = joiner.join(group.map((line) => ({ text: textOf(line), hyphen: line.hyphen })));
  const level = styles.levelOf(text, group);
  if (level !== undefined) return { kind: 'heading', level, text, page, isNote: false };
  if (group.every((line) => line.mono)) return { kind: 'code', text: codeOf(group), page, isNote };
  if (isLeader(text)) return { kind: 'list_item', text: text.replace(leader, ' … '), page, isNote };
  return item.test(text) ? { kind: 'list_item', text, page, isNote } : { kind: 'paragraph', text, page, isNote };
}

/** Converts indentation to as many blanks as fit before the line. */
function codeOf(group: readonly Line[]): string {
  const left = Math.min(...group.map((line) => line.left));
  return group
    .map((line) => {
      const width = (line.right - line.left) / Math.max(1, textOf(line).length);
      return ' '.repeat(Math.min(40, Math.round((line.left - left) / Math.max(width, 1)))) + textOf(line);
    })
    .join('\n');
}

/** A region of a page: text lines or the rows of a table. */
type Region =
  | { readonly kind: 'lines'; readonly lines: readonly Line[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[]; readonly lines: readonly Line[] };

interface Column {
  left: number;
  right: number;
}

/** Finds tables by alignment: lines of several pieces, and the continuation lines of their cells. */
function findTables(lines: readonly Line[]): Region[] {
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
