import { isBlank, mostColumns, rowsOf, type SheetRow, type Workbook } from '../../qa/sheet.ts';
import { openPackage } from '../open-package.ts';
import { general } from './number-format.ts';
import { isTrue, readWorkbookParts, unescapeText, type WorkbookParts } from './package-parts.ts';
import { createRichText } from './rich-text.ts';
import { type Attributes, encodingOf, readXml } from './xml-events.ts';

/**
 * Reads all sheets in the order of the workbook, including hidden ones. Formulas give their stored value, numbers the
 * displayed text, dates ISO 8601.
 * @throws ExtractionError when it is not a workbook.
 */
export async function readXlsx(bytes: Uint8Array): Promise<Workbook> {
  const file = await openPackage(bytes, 'xlsx');
  const { sheets, drawings, ...values } = readWorkbookParts(file);
  return {
    drawings,
    warnings: file.warnings,
    sheets: sheets.map(({ name, hidden, part }) => ({
      name,
      hidden,
      hiddenColumns: findHiddenColumns(part),
      rows: rowsOf(() => readSheetRows(part, values)),
    })),
    facts: {},
  };
}

type Values = Pick<WorkbookParts, 'sharedStrings' | 'formats'>;

/** Reads the rows of one sheet and omits rows without cells. Only the current row is held in memory. */
function* readSheetRows(part: Uint8Array, values: Values): Generator<SheetRow> {
  const ready: SheetRow[] = [];
  const merges = createMerges(part);
  const events = createRowEvents(values, (row) => ready.push(merges.fill(row)));
  for (const _ of readXml(part, events)) {
    yield* ready;
    ready.length = 0;
  }
}

/** The columns stand before the rows. */
const columnBytes = 2 ** 16;

function findHiddenColumns(part: Uint8Array): Set<number> {
  const start = new TextDecoder(encodingOf(part)).decode(part.subarray(0, columnBytes));
  const found = new Set<number>();
  // A tag contains no `<`, so no byte belongs to two candidates.
  for (const [tag] of start.matchAll(/<(?:\w+:)?col\s[^<>]*/g)) {
    const pairs = [...tag.matchAll(/\s(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value] as const);
    const { hidden, width = '1', min = '1', max = '0' }: Attributes = Object.fromEntries(pairs);
    if (!isTrue(hidden) && Number(width) !== 0) continue;
    const [first, last] = [Math.max(1, Number(min)), Number(max)];
    for (let column = first; column <= Math.min(last, mostColumns); column += 1) found.add(column - 1);
  }
  return found;
}

interface Cell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  text: string;
}

type RowDraft = { row: number; cells: string[]; hidden: boolean; errors: number[]; isCut: boolean };

function createRowEvents(values: Values, onRow: (row: SheetRow) => void) {
  let row: RowDraft | undefined;
  let lastRow = 0;
  let nextColumn = 0;
  let cell: Cell | undefined;
  let inValue = false;
  const inline = createRichText();

  function openRow({ r, hidden, ht }: Attributes): void {
    lastRow = r === undefined ? lastRow + 1 : Number(r) || lastRow + 1;
    row = { row: lastRow, cells: [], hidden: isTrue(hidden) || Number(ht ?? 1) === 0, errors: [], isCut: false };
    nextColumn = 0;
  }

  function openCell({ r, t = 'n', s = '0' }: Attributes): void {
    const column = r === undefined ? nextColumn : columnOf(r);
    nextColumn = column + 1;
    cell = { column, type: t, style: Number(s), text: '' };
  }

  function closeCell(): void {
    if (row === undefined || cell === undefined) return;
    if (cell.type === 'inlineStr') cell.text = inline.take();
    const text = show(cell, values);
    if (cell.column >= mostColumns) row.isCut ||= text !== '';
    else if (text !== '') put(row, cell.column, text);
    if (cell.type === 'e') row.errors.push(cell.column);
    cell = undefined;
  }

  function closeRow(): void {
    if (row !== undefined) onRow(finish(row));
    row = undefined;
  }

  return {
    open: (name: string, attributes: Attributes) => {
      if (name === 'c') openCell(attributes);
      else if (name === 'v') inValue = cell !== undefined;
      else if (name === 'row') openRow(attributes);
      else if (cell !== undefined) inline.open(name, attributes);
    },
    text: (text: string) => {
      if (inValue && cell !== undefined) cell.text += text;
      else if (cell !== undefined) inline.text(text);
    },
    close: (name: string) => {
      if (name === 'v') inValue = false;
      else if (name === 'c') closeCell();
      else if (name === 'row') closeRow();
      else if (cell !== undefined) inline.close(name);
    },
  };
}

function put(row: RowDraft, column: number, text: string): void {
  while (row.cells.length < column) row.cells.push('');
  row.cells[column] = text;
}

function finish({ row, cells, hidden, errors, isCut }: RowDraft): SheetRow {
  return {
    row,
    cells,
    ...(hidden ? { hidden } : {}),
    ...(errors.length === 0 ? {} : { errors }),
    ...(isCut ? { isCut } : {}),
  };
}

/** Texts and booleans follow the section for texts of their format. Errors and ISO dates follow no format. */
function show({ type, style, text }: Cell, { sharedStrings, formats }: Values): string {
  const format = formats[style] ?? general;
  switch (type) {
    case 's':
      return format(sharedStrings[Number(text)] ?? '');
    case 'inlineStr':
    case 'str':
      return format(unescapeText(text));
    case 'b':
      return format(isTrue(text.trim()) ? 'TRUE' : 'FALSE');
    case 'e':
      return text;
    case 'd':
      return text.replace(/T00:00:00(?:\.0+)?Z?$/, '');
    default: {
      const value = Number(text);
      if (text.trim() === '') return '';
      return format(Number.isNaN(value) ? text : value);
    }
  }
}

interface Merge {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly column: number;
  /** The value of the top left cell, known once its row was read. */
  value: string;
}

/** Fills the rows below the first row of a merged range. Rows come in order. */
interface Merges {
  fill(row: SheetRow): SheetRow;
}

const mostMerges = 200_000;
const mostOpen = 1000;

/**
 * Merged ranges follow the rows in the file, so they are read first. A range over several rows repeats its value in
 * each row, in its first column, such as one answer for several questions. A range over several columns is not
 * repeated, because that would invent cells. Rows without a value of their own stay blank.
 */
function createMerges(part: Uint8Array): Merges {
  const merges = findMerges(part);
  let next = 0;
  let open: Merge[] = [];
  return {
    fill: (row) => {
      for (let merge = merges[next]; merge !== undefined && merge.firstRow <= row.row; merge = merges[next]) {
        next += 1;
        if (merge.firstRow === row.row) merge.value = row.cells[merge.column] ?? '';
        if (merge.value !== '' && open.length < mostOpen) open.push(merge);
      }
      if (open.length === 0 || isBlank(row)) return row;
      open = open.filter((merge) => merge.lastRow >= row.row);
      const empty = open.filter((merge) => merge.firstRow < row.row && (row.cells[merge.column] ?? '') === '');
      return empty.length === 0 ? row : { ...row, cells: withValues(row.cells, empty) };
    },
  };
}

function withValues(cells: readonly string[], merges: readonly Merge[]): string[] {
  const filled = [...cells];
  for (const { column, value } of merges) {
    while (filled.length < column) filled.push('');
    filled[column] = value;
  }
  return filled;
}

function findMerges(part: Uint8Array): Merge[] {
  const encoding = encodingOf(part);
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  const start = encoding.startsWith('utf-16') ? 0 : bytes.lastIndexOf('</sheetData>');
  const closing = start === -1 ? bytes.indexOf('mergeCells') : start;
  if (closing === -1) return [];
  const tail = new TextDecoder(encoding).decode(bytes.subarray(closing));
  const found: Merge[] = [];
  // A tag contains no `<`, so no byte belongs to two candidates.
  for (const [tag] of tail.matchAll(/<(?:\w+:)?mergeCell\s[^<>]*/g)) {
    if (found.length === mostMerges) break;
    const [, from = '', to = ''] = /ref="([A-Z]+\d+):([A-Z]+\d+)"/.exec(tag) ?? [];
    const [firstRow, lastRow] = [rowOf(from), rowOf(to)];
    if (lastRow > firstRow) found.push({ firstRow, lastRow, column: columnOf(from), value: '' });
  }
  return found.sort((a, b) => a.firstRow - b.firstRow);
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const character of reference) {
    const letter = character.toUpperCase().charCodeAt(0) - 64;
    if (letter < 1 || letter > 26) break;
    column = Math.min(column * 26 + letter, 1_000_000);
  }
  return Math.max(0, column - 1);
}

/** The row number of a reference such as `AB12`, counted from 1; 0 when it has none. */
function rowOf(reference: string): number {
  let start = reference.length;
  while (isDigit(reference.charCodeAt(start - 1))) start -= 1;
  return Number(reference.slice(start));
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
