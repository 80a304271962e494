import type { Block } from '../../document.ts';
import { findTables, type Region } from './find-tables.ts';
import type { HeadingStyles } from './heading-styles.ts';
import type { LineJoiner } from './join-lines.ts';
import { type Line, textOf } from './lines.ts';
import type { OutlineTitles, Title } from './outline-titles.ts';
import type { PageLines } from './running-heads.ts';

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
