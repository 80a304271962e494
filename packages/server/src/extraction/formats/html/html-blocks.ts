import { Parser } from 'htmlparser2';
import type { Block, BlockKind } from '../../document.ts';
import { fileDamaged } from '../../extraction-error.ts';
import { createTableRows, type Spans, type TableRows } from '../../qa/table-rows.ts';
import { createRegions, type Regions } from './html-regions.ts';

/** Elements whose content is not part of the text. */
const dropped = new Set(
  'script style noscript template title svg math iframe object canvas audio video select datalist'.split(' '),
);
const breaking = new Set(
  `html body main article section header footer aside address blockquote center details dialog dd div dl dt fieldset
  figcaption figure form hgroup hr legend menu nav p search summary caption thead tbody tfoot`.split(/\s+/),
);
const tableParts = new Set(['tr', 'td', 'th']);
const headings = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]));
const paragraph = { kind: 'paragraph', level: 0 } as const;

/** Elements that are never closed count as nested. Real pages stay far below this depth. */
const deepest = 5_000;

/** Converts HTML into blocks, piece by piece. Damaged markup never throws. */
export interface HtmlBlocks {
  write(html: string): void;
  end(): HtmlContent;
}

export interface HtmlContent {
  readonly blocks: Block[];
  /** The title in the head; empty when there is none. */
  readonly title: string;
  /** Characters that are not part of the blocks. */
  readonly dropped: { readonly hidden: number; readonly boilerplate: number };
}

interface Reading {
  readonly regions: Regions;
  readonly table: TableRows;
  text: string[];
  /** The block of the current text. */
  open: { readonly kind: BlockKind; readonly level: number };
  /** The nesting depth within a dropped element, and the reason. */
  skipped: number;
  skippedFor: 'hidden' | 'title' | 'other';
  title: string;
  hidden: number;
  preformatted: number;
  /** The number of the next item of each open list; null in one without numbers. */
  readonly lists: Array<number | null>;
}

export function createHtmlBlocks(): HtmlBlocks {
  const reading: Reading = {
    regions: createRegions(),
    table: createTableRows(),
    text: [],
    open: paragraph,
    skipped: 0,
    skippedFor: 'other',
    title: '',
    hidden: 0,
    preformatted: 0,
    lists: [],
  };
  let depth = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      // The parser's time grows with the square of the depth.
      if (depth > deepest) throw fileDamaged('HTML', `its elements are nested deeper than ${deepest}`);
      if (reading.skipped > 0) reading.skipped += 1;
      else if (dropped.has(name) || isHidden(attributes)) skip(reading, name, attributes);
      else {
        openTag(reading, name, attributes);
        reading.regions.enter(name, attributes);
      }
    },
    onclosetag: (name) => {
      depth -= 1;
      if (reading.skipped > 0) reading.skipped -= 1;
      else {
        closeTag(reading, name);
        reading.regions.leave();
      }
    },
    ontext: (piece) => {
      if (reading.skipped > 0) takeSkipped(reading, piece);
      else takeShown(reading, piece);
    },
  });
  return {
    write: (html) => parser.write(html),
    end: () => {
      parser.end();
      while (reading.table.isOpen()) closeTable(reading);
      endBlock(reading);
      const { blocks, dropped: boilerplate } = reading.regions.content();
      return { blocks, title: tidy(reading.title), dropped: { hidden: reading.hidden, boilerplate } };
    },
  };
}

function skip(reading: Reading, name: string, attributes: Record<string, string>): void {
  reading.skipped = 1;
  reading.skippedFor = dropped.has(name) ? 'other' : 'hidden';
  if (name === 'title' && reading.title === '') reading.skippedFor = 'title';
  // A formula may contain a text alternative.
  if (name === 'math' && attributes.alttext !== undefined) takeShown(reading, ` ${attributes.alttext} `);
}

function takeSkipped(reading: Reading, piece: string): void {
  if (reading.skippedFor === 'title' && reading.skipped === 1) reading.title += piece;
  else if (reading.skippedFor === 'hidden') reading.hidden += piece.trim().length;
}

function takeShown(reading: Reading, piece: string): void {
  reading.text.push(reading.preformatted > 0 ? piece : piece.replace(/[ \t\n\r\f]+/g, ' '));
  reading.regions.text(piece.length);
}

function openTag(reading: Reading, name: string, attributes: Record<string, string>): void {
  const level = headings.get(name);
  if (level !== undefined) startBlock(reading, 'heading', level);
  else if (name === 'li') startItem(reading);
  else if (name === 'ol' || name === 'ul') openList(reading, name, attributes);
  else if (name === 'pre') {
    startBlock(reading, 'code');
    reading.preformatted += 1;
  } else if (name === 'br') reading.text.push('\n');
  else if (name === 'table') openTable(reading);
  else if (tableParts.has(name)) openTablePart(reading, name, attributes);
  else if (breaking.has(name)) endBlock(reading);
}

function closeTag(reading: Reading, name: string): void {
  if (name === 'table') closeTable(reading);
  else if (tableParts.has(name)) closeTablePart(reading, name);
  else if (name === 'ol' || name === 'ul') {
    endBlock(reading);
    reading.lists.pop();
  } else if (headings.has(name) || name === 'li' || name === 'pre') {
    endBlock(reading);
    if (name === 'pre') reading.preformatted = Math.max(0, reading.preformatted - 1);
    reading.open = paragraph;
  } else if (breaking.has(name)) endBlock(reading);
}

function startBlock(reading: Reading, kind: BlockKind, level = 0): void {
  endBlock(reading);
  reading.open = { kind, level };
}

function openList(reading: Reading, name: string, attributes: Record<string, string>): void {
  endBlock(reading);
  const start = Number.parseInt(attributes.start ?? '1', 10);
  reading.lists.push(name === 'ol' ? (Number.isNaN(start) ? 1 : start) : null);
}

/** The number of an item is part of its text, because other text refers to it. */
function startItem(reading: Reading): void {
  startBlock(reading, 'list_item');
  const number = reading.lists.at(-1) ?? null;
  reading.text.push(number === null ? '- ' : `${number}. `);
  if (number !== null) reading.lists[reading.lists.length - 1] = number + 1;
}

/** Ends the current block. Within a table, the text is only a part of its cell. */
function endBlock(reading: Reading): void {
  const { kind, level } = reading.open;
  if (reading.table.isOpen()) {
    reading.text.push(' ');
    return;
  }
  const read = takeText(reading);
  const text = kind === 'code' ? read.replace(/^\n/, '').trimEnd() : tidy(read);
  if (text === '' || text === '-') return;
  reading.regions.emit(kind === 'heading' ? { kind, text, level } : { kind, text });
  if (kind === 'heading') reading.open = paragraph;
}

function openTable(reading: Reading): void {
  if (!reading.table.isOpen()) endBlock(reading);
  reading.table.open(`${takeText(reading)} `);
}

/** Outside a table, a row or cell is treated as a paragraph. */
function openTablePart(reading: Reading, name: string, attributes: Record<string, string>): void {
  if (!reading.table.isOpen()) endBlock(reading);
  else if (name === 'tr') reading.table.openRow(takeText(reading));
  else reading.table.openCell(takeText(reading), spansOf(attributes));
}

function spansOf(attributes: Record<string, string>): Spans {
  const span = (value: string | undefined) => Math.min(mostSpanned, Math.max(1, Number.parseInt(value ?? '', 10) || 1));
  return { rows: span(attributes.rowspan), columns: span(attributes.colspan) };
}
/** The maximum span of a cell. A larger span is an error or an attack. */
const mostSpanned = 50;

function closeTablePart(reading: Reading, name: string): void {
  if (!reading.table.isOpen()) endBlock(reading);
  else if (name === 'tr') reading.table.closeRow(takeText(reading));
  else reading.table.closeCell(takeText(reading));
}

function closeTable(reading: Reading): void {
  if (!reading.table.isOpen()) return;
  const { text, headerRows } = reading.table.close(takeText(reading));
  if (reading.table.isOpen()) reading.text.push(` ${text} `);
  else if (text !== '') reading.regions.emit({ kind: 'table', text, headerRows });
}

function takeText(reading: Reading): string {
  const text = reading.text.join('');
  reading.text = [];
  return text;
}

function isHidden(attributes: Record<string, string>): boolean {
  if (attributes.hidden !== undefined) return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes.style ?? '');
}

/** Collapses blanks; the line breaks of `<br>` stay. */
function tidy(text: string): string {
  return text
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}
