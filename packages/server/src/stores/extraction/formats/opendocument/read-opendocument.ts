import type { Block, Document } from '../../document.ts';
import { unpackedLimit } from '../../extraction-error.ts';
import { mostColumns, type Sheet, type SheetRow } from '../../qa/sheet.ts';
import { childOf, childrenOf, findAll, textOf, type XmlElement } from '../docx/xml-tree.ts';
import { describeHiddenSlides } from '../hidden-slides.ts';
import { readWorkbookSheets } from '../read-sheets.ts';
import { wholeNumber } from './list-labels.ts';
import { type OpenDocument, type OpenDocumentFormat, openDocument } from './package-text.ts';
import { type Reading, startReading } from './reading.ts';
import { readBlocks, readFrame, tableRows } from './text-blocks.ts';
import { createUnseenCells } from './unseen-cells.ts';

/**
 * Reads a text (`.odt`), a workbook (`.ods`) or a presentation (`.odp`). Tracked changes are accepted, comments are
 * counted, and notes and boxes follow their paragraph. No other file or address is opened.
 * Source: OpenDocument 1.3, part 3.
 */
export async function readOpenDocument(format: OpenDocumentFormat, bytes: Uint8Array): Promise<Document> {
  const document = await openDocument(bytes, format);
  if (format === 'ods') return readSheetsOf(document);
  const reading = startReading(document);
  const { blocks, facts, warnings = [] } = format === 'odt' ? readText(reading) : readSlides(reading);
  const { title } = document;
  return {
    blocks,
    facts: { ...(title === undefined ? {} : { title }), ...facts, dropped: reading.dropped },
    warnings: [...document.warnings, ...reading.warnings, ...warnings],
  };
}

interface Read extends Pick<Document, 'blocks'> {
  readonly facts?: Document['facts'];
  readonly warnings?: readonly string[];
}

const around = /^style:(?:header|footer)(?:-left|-first)?$/;

function readText(reading: Reading): Read {
  const { body, styles } = reading.document;
  const blocks = readBlocks(reading, childrenOf(body));
  const pages = styles.flatMap((each) => [...findAll(each, 'style:master-page')]);
  const parts = pages.flatMap((page) => childrenOf(page).filter(({ name }) => around.test(name)));
  if (blocks.some(({ text }) => text.trim() !== '')) {
    for (const part of parts) reading.dropped.headers_and_footers += textOf(part).trim().length;
    return { blocks };
  }
  const read = parts.flatMap((part) => readBlocks(reading, childrenOf(part))).filter(({ text }) => text.trim() !== '');
  if (read.length > 0) reading.warnings.add('The body has no text, so the headers and footers were read.');
  return { blocks: [...new Map(read.map((block) => [block.text, block])).values()] };
}

/** Boxes that every slide repeats. */
const repeated = new Set(['header', 'footer', 'date-time', 'page-number']);
const classOf = (frame: XmlElement) => frame.attributes['presentation:class'] ?? '';

function readSlides(reading: Reading): Read {
  const hiddenStyles = stylesWith(
    reading.document,
    'style:drawing-page-properties',
    'presentation:visibility',
    'hidden',
  );
  const slides = childrenOf(reading.document.body, 'draw:page');
  const hidden: number[] = [];
  const blocks: Block[] = [];
  for (const [index, slide] of slides.entries()) {
    if (hiddenStyles.has(slide.attributes['draw:style-name'] ?? '')) hidden.push(index + 1);
    for (const block of readSlide(reading, slide, index + 1)) blocks.push({ ...block, page: index + 1 });
  }
  return {
    blocks,
    facts: { pages: slides.length },
    warnings: describeHiddenSlides(hidden),
  };
}

function readSlide(reading: Reading, slide: XmlElement, number: number): Block[] {
  const shapes = childrenOf(slide).filter(({ name }) => name.startsWith('draw:') || name.startsWith('dr3d:'));
  for (const shape of shapes)
    if (repeated.has(classOf(shape))) reading.dropped.headers_and_footers += textOf(shape).trim().length;
  const isTitle = (shape: XmlElement) => classOf(shape) === 'title';
  const titles = shapes.filter(isTitle).flatMap((shape) => readFrame(reading, shape));
  const title = titles
    .map(({ text }) => text)
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  const rest = shapes.filter((shape) => !isTitle(shape) && !repeated.has(classOf(shape)));
  const notes = childrenOf(childOf(slide, 'presentation:notes'))
    .filter((shape) => classOf(shape) === 'notes')
    .flatMap((shape) => readFrame(reading, shape));
  for (const comment of childrenOf(slide, 'office:annotation'))
    reading.dropped.comments += textOf(comment).trim().length;
  return [
    { kind: 'heading', level: 1, text: title === '' ? `Slide ${number}` : title },
    ...rest.flatMap((shape) => readFrame(reading, shape)),
    ...(notes.length === 0 ? [] : [{ kind: 'heading', level: 2, text: 'Notes' } as const, ...notes]),
  ];
}

/** Returns the names of the styles of the document whose properties have a value. */
function stylesWith({ styles }: OpenDocument, properties: string, attribute: string, value: string): Set<string> {
  const all = styles.flatMap((each) => [...findAll(each, 'style:style')]);
  const found = all.filter((style) => childOf(style, properties)?.attributes[attribute] === value);
  return new Set(found.map(({ attributes }) => attributes['style:name'] ?? ''));
}

function readSheetsOf(document: OpenDocument): Document {
  const hiddenStyles = stylesWith(document, 'style:table-properties', 'table:display', 'false');
  const budget = { cells: mostRepeatedCells };
  const isUnseen = createUnseenCells(document.styles);
  const sheets = childrenOf(document.body, 'table:table').map((table): Sheet => {
    const { hidden: hiddenColumns, styles } = columnsOf(table);
    return {
      name: table.attributes['table:name'] ?? '',
      hidden: hiddenStyles.has(table.attributes['table:style-name'] ?? ''),
      hiddenColumns,
      rows: readRows(table, {
        budget,
        isUnseen: (cell, row, column) => isUnseen(cell, { table, row, column: styles[column] }),
      }),
    };
  });
  const { title } = document;
  const read = readWorkbookSheets(sheets, [...document.warnings]);
  return { ...read, facts: title === undefined ? {} : { title } };
}

const columnsIn = (child: XmlElement) =>
  child.name === 'table:table-column' ? [child] : [...findAll(child, 'table:table-column')];

/** Returns the hidden columns, and the style of the cells of each column. */
function columnsOf(table: XmlElement): { hidden: Set<number>; styles: (string | undefined)[] } {
  const hidden = new Set<number>();
  const styles: (string | undefined)[] = [];
  let at = 0;
  const columns = childrenOf(table).flatMap((child) => (child.name.includes('column') ? columnsIn(child) : []));
  for (const { attributes } of columns) {
    const next = Math.min(at + (wholeNumber(attributes['table:number-columns-repeated']) ?? 1), mostColumns);
    const isHidden = (attributes['table:visibility'] ?? 'visible') !== 'visible';
    for (; at < next; at += 1) {
      if (isHidden) hidden.add(at);
      styles[at] = attributes['table:default-cell-style-name'];
    }
  }
  return { hidden, styles };
}

/** Repeated cells with text, of all rows of a file. A few bytes could otherwise stand for billions. */
const mostRepeatedCells = 1_000_000;

interface CellContext {
  readonly budget: { cells: number };
  readonly isUnseen: (cell: XmlElement, row: XmlElement, column: number) => boolean;
}

function readRows(table: XmlElement, { budget, isUnseen }: CellContext): SheetRow[] {
  const found: SheetRow[] = [];
  let number = 1;
  for (const row of tableRows(table).rows) {
    const { attributes } = row;
    const times = wholeNumber(attributes['table:number-rows-repeated']) ?? 1;
    const { cells, seen, isCut } = readCells(row, isUnseen);
    if (cells.length > 0) {
      budget.cells -= (times - 1) * cells.length;
      if (budget.cells < 0) throw unpackedLimit(`${mostRepeatedCells.toLocaleString('en')} repeated cells`);
      const hidden = (attributes['table:visibility'] ?? 'visible') !== 'visible';
      for (let at = 0; at < times; at += 1)
        found.push({ row: number + at, cells, hidden, isCut, ...(seen.size === 0 ? {} : { seen }) });
    }
    number += times;
  }
  return found;
}

/** Returns the cells of a row up to the last one with text. */
function readCells(
  row: XmlElement,
  isUnseen: CellContext['isUnseen'],
): { cells: string[]; seen: Map<number, string>; isCut: boolean } {
  const cells: string[] = [];
  const seen = new Map<number, string>();
  let blank = 0;
  for (const cell of childrenOf(row)) {
    if (cell.name !== 'table:table-cell' && cell.name !== 'table:covered-table-cell') continue;
    const times = wholeNumber(cell.attributes['table:number-columns-repeated']) ?? 1;
    const text = cell.name === 'table:table-cell' ? cellText(cell) : '';
    if (text === '') {
      blank += times;
      continue;
    }
    if (cells.length + blank + times > mostColumns) return { cells, seen, isCut: true };
    for (; blank > 0; blank -= 1) cells.push('');
    for (let at = 0; at < times; at += 1) {
      if (isUnseen(cell, row, cells.length)) seen.set(cells.length, '');
      cells.push(text);
    }
  }
  return { cells, seen, isCut: false };
}

/** The text of a cell as it is displayed, otherwise its value. */
function cellText(cell: XmlElement): string {
  const paragraphs = childrenOf(cell, 'text:p').map(lineOf);
  const text = paragraphs.join('\n').trim();
  return text === '' ? (cell.attributes['office:value'] ?? '') : text;
}

function lineOf({ children }: XmlElement): string {
  return children
    .map((child) => {
      if (typeof child === 'string') return child;
      if (child.name === 'office:annotation') return '';
      return child.name === 'text:s' || child.name === 'text:tab' || child.name === 'text:line-break'
        ? ' '
        : lineOf(child);
    })
    .join('');
}
