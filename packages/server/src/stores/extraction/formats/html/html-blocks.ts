import { Parser } from 'htmlparser2';
import type { Block, BlockKind } from '../../document.ts';
import { fileDamaged } from '../../extraction-error.ts';
import { createTableRows, type Spans, type TableRows } from '../../qa/table-rows.ts';
import { pictureText, withoutRepeatedPictures } from '../picture-text.ts';
import { createRegions, type Regions } from './html-regions.ts';
import { type MathElement, mathText } from './math-text.ts';

/** Elements whose content is not part of the text. */
const dropped = new Set(
  'script style noscript template title svg iframe object canvas audio video select datalist'.split(' '),
);
/** Of these, the elements whose text a browser shows, or shows instead of the element. */
const embedded = new Set('noscript svg iframe object canvas audio video select datalist'.split(' '));
const breaking = new Set(
  `html body main article section header footer aside address blockquote center details dialog dd div dl dt fieldset
  figcaption figure form hgroup hr legend menu nav p search summary caption thead tbody tfoot`.split(/\s+/),
);
const tableParts = new Set(['tr', 'td', 'th']);
const headings = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]));
const paragraph = { kind: 'paragraph', level: 0 } as const;

/** Elements that are never closed count as nested. The parser's time grows with the depth. */
const deepest = 1_000;

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
  readonly dropped: { readonly hidden: number; readonly embedded: number; readonly boilerplate: number };
}

interface Reading {
  readonly regions: Regions;
  readonly table: TableRows;
  text: string[];
  /** The block of the current text. */
  open: { readonly kind: BlockKind; readonly level: number };
  /** The nesting depth within a dropped element, and the reason. */
  skipped: number;
  skippedFor: 'none' | 'hidden' | 'embedded' | 'title' | 'other';
  title: string;
  hidden: number;
  embedded: number;
  preformatted: number;
  /** The number of the next item of each open list; null in one without numbers. */
  readonly lists: Array<number | null>;
  /** The open elements of a formula, from the outermost. */
  readonly math: MathElement[];
  /** The text alternative of the last formula, which a picture of it repeats. */
  formula: string;
  /** For each open link within the page, the number of pieces of text before it; -1 for other links. */
  readonly links: number[];
}

export function createHtmlBlocks(): HtmlBlocks {
  const reading: Reading = {
    regions: createRegions(),
    table: createTableRows(),
    text: [],
    open: paragraph,
    skipped: 0,
    skippedFor: 'none',
    title: '',
    hidden: 0,
    embedded: 0,
    preformatted: 0,
    lists: [],
    math: [],
    formula: '',
    links: [],
  };
  let depth = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      if (depth > deepest) throw fileDamaged('HTML', `its elements are nested deeper than ${deepest}`);
      // Programs hide a formula behind a picture of it.
      if (reading.math.length > 0 || (name === 'math' && (reading.skipped === 0 || reading.skippedFor === 'hidden')))
        openMath(reading, name, attributes);
      else if (reading.skipped > 0) reading.skipped += 1;
      else if (dropped.has(name) || isHidden(attributes)) skip(reading, name);
      else {
        openTag(reading, name, attributes);
        reading.regions.enter(name, attributes);
      }
    },
    onclosetag: (name) => {
      depth -= 1;
      if (reading.math.length > 0) closeMath(reading);
      else if (reading.skipped > 0) closeSkipped(reading);
      else {
        closeTag(reading, name);
        reading.regions.leave();
      }
    },
    ontext: (piece) => {
      if (reading.math.length > 0) reading.math.at(-1)?.children.push(piece);
      else if (reading.skipped > 0) takeSkipped(reading, piece);
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
      return {
        blocks: withoutRepeatedPictures(blocks),
        title: tidy(reading.title),
        dropped: { hidden: reading.hidden, embedded: reading.embedded, boilerplate },
      };
    },
  };
}

function skip(reading: Reading, name: string): void {
  reading.skipped = 1;
  reading.skippedFor = embedded.has(name) ? 'embedded' : dropped.has(name) ? 'other' : 'hidden';
  if (name === 'title' && reading.title === '') reading.skippedFor = 'title';
}

function closeSkipped(reading: Reading): void {
  reading.skipped -= 1;
  if (reading.skipped === 0) reading.skippedFor = 'none';
}

function openMath(reading: Reading, name: string, attributes: Record<string, string>): void {
  const element = { name, attributes, children: [] };
  reading.math.at(-1)?.children.push(element);
  reading.math.push(element);
}

function closeMath(reading: Reading): void {
  const element = reading.math.pop();
  if (element === undefined || reading.math.length > 0) return;
  takeShown(reading, ` ${mathText(element)} `);
  reading.formula = element.attributes.alttext ?? '';
}

function takeSkipped(reading: Reading, piece: string): void {
  if (reading.skippedFor === 'title' && reading.skipped === 1) reading.title += piece;
  else if (reading.skippedFor === 'hidden') reading.hidden += piece.trim().length;
  else if (reading.skippedFor === 'embedded') reading.embedded += piece.trim().length;
}

function takeShown(reading: Reading, piece: string): void {
  reading.text.push(reading.preformatted > 0 ? piece : piece.replace(/[ \t\n\r\f]+/g, ' '));
  reading.regions.text(piece);
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
  else if (name === 'img') takePicture(reading, attributes);
  else if (name === 'input') takeField(reading, attributes);
  else if (name === 'a') reading.links.push(attributes.href?.startsWith('#') === true ? reading.text.length : -1);
  else if (name === 'table') openTable(reading);
  else if (tableParts.has(name)) openTablePart(reading, name, attributes);
  else if (breaking.has(name)) endBlock(reading);
}

function takePicture(reading: Reading, { alt = '' }: Record<string, string>): void {
  if (alt === reading.formula) return;
  const text = pictureText(alt);
  takeShown(reading, text);
  // The description of a button, or the name of a file.
  if (text === '') reading.embedded += alt.trim().length;
}

/** A value that a field shows. Hidden fields, and buttons, whose value is their name, are no text of the page. */
function takeField(reading: Reading, { type = 'text', value = '' }: Record<string, string>): void {
  if (/^(?:text|search|email|tel|url|number|date)$/i.test(type)) reading.embedded += value.trim().length;
}

const permalinks = new Set(['¶', '§', '#', '🔗', '\uf0c1']);

/** The sign that links to a heading is not a part of it. */
function closeLink(reading: Reading): void {
  const from = reading.links.pop() ?? -1;
  if (from !== -1 && permalinks.has(reading.text.slice(from).join('').trim())) reading.text.length = from;
}

function closeTag(reading: Reading, name: string): void {
  if (name === 'a') closeLink(reading);
  else if (name === 'table') closeTable(reading);
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
  // KaTeX shows a formula in pieces, beside the MathML that is read.
  if (attributes.hidden !== undefined || attributes.class === 'katex-html') return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes.style ?? '');
}

/** Collapses blanks; the line breaks of `<br>` stay. */
function tidy(text: string): string {
  return text
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}
