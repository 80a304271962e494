import { Parser } from 'htmlparser2';
import type { Block, BlockKind } from '../../document.ts';
import { fileDamaged } from '../../extraction-error.ts';
import { createTableRows, spansOf, type TableRows } from '../../qa/table-rows.ts';
import { pictureText, withoutRepeatedPictures } from '../picture-text.ts';
import { type Box, createDisplays, type Displays } from './css-display.ts';
import { createRegions, type Regions } from './html-regions.ts';
import { createInlineMarks, type InlineMarks, isOnlyMarks } from './inline-marks.ts';
import { countItems, createListNumbers, type ListNumbers } from './list-numbers.ts';
import { type MathElement, mathText } from './math-text.ts';
import { createOmittedElements, type OmittedElements } from './omitted-elements.ts';
import { createOpenedParts } from './opened-parts.ts';

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
  /** Characters of the blocks that a style makes hard to see. */
  readonly unseen: number;
}

interface Reading {
  readonly regions: Regions;
  readonly table: TableRows;
  text: string[];
  /** The block of the current text. */
  open: { readonly kind: BlockKind; readonly level: number };
  readonly omitted: OmittedElements;
  preformatted: number;
  readonly lists: ListNumbers;
  readonly marks: InlineMarks;
  readonly displays: Displays;
  /** The open elements of a formula, from the outermost. */
  readonly math: MathElement[];
  /** The text alternative of the last formula, which a picture of it repeats. */
  formula: string;
  /** The label of the last item. */
  label: string;
  /** Counts the items of the list that opens with the current tag. */
  countItems: () => number;
}

export function createHtmlBlocks({ showsHidden = false } = {}): HtmlBlocks {
  const displays = createDisplays();
  const opened = createOpenedParts();
  /** Whether a button has just ended. It opens what follows. */
  let isAfterButton = false;
  const reading: Reading = {
    regions: createRegions(),
    table: createTableRows(),
    text: [],
    open: paragraph,
    omitted: createOmittedElements({
      onStyle: displays.learn,
      isControlled: opened.isControlled,
      hides: (name, attributes) =>
        !isAfterButton && displays.hides(name, attributes) && !opened.isMentioned(attributes),
      showsHidden,
    }),
    preformatted: 0,
    lists: createListNumbers(),
    marks: createInlineMarks(),
    displays,
    label: '',
    math: [],
    formula: '',
    countItems: () => countItems(piece, parser.endIndex + 1 - read),
  };
  let depth = 0;
  let [piece, read] = ['', 0];
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      if (depth > deepest) throw fileDamaged('HTML', `its elements are nested deeper than ${deepest}`);
      // Programs hide a formula behind a picture of it.
      const { omitted } = reading;
      if (reading.math.length > 0 || (name === 'math' && (!omitted.isOpen() || omitted.isHidden())))
        openMath(reading, name, attributes);
      else if (omitted.isOpen()) omitted.open(name, attributes);
      else if (!omitted.begin(name, attributes)) {
        openBox(reading, name, attributes);
        openTag(reading, name, attributes);
        reading.regions.enter(name, attributes);
      }
      isAfterButton = false;
    },
    onclosetag: (name) => {
      depth -= 1;
      if (name === 'button' || name === 'label') isAfterButton = true;
      if (reading.math.length > 0) closeMath(reading);
      else if (reading.omitted.isOpen()) takeValue(reading, reading.omitted.close());
      else {
        closeTag(reading, name);
        separate(reading, displays.leave());
        reading.regions.leave();
      }
    },
    ontext: (text) => {
      if (text.trim() !== '') isAfterButton = false;
      if (reading.math.length > 0) reading.math.at(-1)?.children.push(text);
      else if (reading.omitted.isOpen()) reading.omitted.take(text);
      else takeShown(reading, text);
    },
  });
  return {
    write: (html) => {
      read += piece.length;
      piece = html;
      opened.learn(html);
      parser.write(html);
    },
    end: () => {
      parser.end();
      while (reading.table.isOpen()) closeTable(reading);
      endBlock(reading);
      const { title, ...characters } = reading.omitted.counts();
      const { blocks, dropped: boilerplate } = reading.regions.content();
      return {
        blocks: withoutRepeatedPictures(blocks),
        title: tidy(title),
        dropped: { ...characters, boilerplate },
        unseen: displays.unseen(),
      };
    },
  };
}

function openBox(reading: Reading, name: string, attributes: Record<string, string>): void {
  if (reading.displays.hasSeparateChildren()) reading.text.push(' ');
  separate(reading, reading.displays.enter(name, attributes));
}

function separate(reading: Reading, box: Box | undefined): void {
  if (box?.own === 'paragraph') endPart(reading);
  else if (box?.own === 'blank') reading.text.push(' ');
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

function takeShown(reading: Reading, piece: string): void {
  reading.marks.add(reading.preformatted > 0 ? piece : piece.replace(/[ \t\n\r\f]+/g, ' '), reading.text);
  reading.regions.text(piece);
  reading.displays.take(piece);
}

function openTag(reading: Reading, name: string, attributes: Record<string, string>): void {
  const level = headings.get(name);
  if (level !== undefined) startBlock(reading, 'heading', level);
  else if (name === 'li') startItem(reading, attributes);
  else if (name === 'ol' || name === 'ul') {
    endBlock(reading);
    reading.lists.open(name, attributes, reading.countItems);
  } else if (name === 'pre') {
    startBlock(reading, 'code');
    reading.preformatted += 1;
  } else if (name === 'br') reading.text.push('\n');
  else if (name === 'img') takePicture(reading, attributes);
  else if (name === 'input') takeField(reading, attributes);
  else if (name === 'table') openTable(reading);
  else if (tableParts.has(name)) openTablePart(reading, name, attributes);
  else if (breaking.has(name)) endPart(reading);
  else reading.marks.open(name, attributes, reading.text);
}

function takePicture(reading: Reading, { alt = '' }: Record<string, string>): void {
  if (alt === reading.formula) return;
  const text = pictureText(alt);
  takeShown(reading, text);
  // The description of a button, or the name of a file.
  if (text === '') reading.omitted.addEmbedded(alt);
}

function takeValue(reading: Reading, value: string): void {
  if (value !== '') takeShown(reading, ` ${value} `);
}

/** Buttons and hidden fields are no text of the page, and the words of a search box are no content. */
function takeField(reading: Reading, { type = 'text', value = '', ...attributes }: Record<string, string>): void {
  if (/^(?:checkbox|radio)$/i.test(type)) reading.text.push(attributes.checked === undefined ? ' [ ] ' : ' [x] ');
  else if (/^(?:text|email|tel|url|number|date)$/i.test(type)) takeValue(reading, value);
  else if (/^search$/i.test(type)) reading.omitted.addEmbedded(value);
}

function closeTag(reading: Reading, name: string): void {
  if (name === 'table') closeTable(reading);
  else if (tableParts.has(name)) closeTablePart(reading, name);
  else if (name === 'ol' || name === 'ul') {
    endBlock(reading);
    reading.lists.close();
  } else if (headings.has(name) || name === 'li' || name === 'pre') {
    endBlock(reading);
    if (name === 'pre') reading.preformatted = Math.max(0, reading.preformatted - 1);
    reading.open = paragraph;
  } else if (breaking.has(name)) endPart(reading);
  else reading.marks.close(name, reading.text);
}

function startBlock(reading: Reading, kind: BlockKind, level = 0): void {
  endBlock(reading);
  reading.open = { kind, level };
}

/** The number of an item is part of its text, because other text refers to it. */
function startItem(reading: Reading, attributes: Record<string, string>): void {
  startBlock(reading, 'list_item');
  reading.label = reading.lists.item(attributes);
  reading.text.push(reading.label);
}

/** Ends the current block, unless it is the label of an item alone: the first paragraph of the item follows it. */
function endPart(reading: Reading): void {
  const { open, text, label } = reading;
  const isLabel = open.kind === 'list_item' && text.length <= 3 && text.join('').trim() === label.trim();
  if (!isLabel || reading.table.isOpen()) endBlock(reading);
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
  if (text === '' || isOnlyMarks.test(text)) return;
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
  reading.marks.endBlock();
  return text;
}

/** Collapses blanks; the line breaks of `<br>` stay. */
function tidy(text: string): string {
  return text
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}
