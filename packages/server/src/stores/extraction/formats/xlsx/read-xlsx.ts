import { isBlank, mostColumns, rowsOf, type SheetRow, type Workbook } from '../../qa/sheet.ts';
import { openPackage } from '../open-package.ts';
import { columnOf, type IsPainted, rangeOf, readTail } from './cell-ranges.ts';
import { type CellStyle, isTrue, usualStyle } from './cell-styles.ts';
import { general } from './number-format.ts';
import { readWorkbookParts, type SheetPart, unescapeText, type WorkbookParts } from './package-parts.ts';
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
    sheets: sheets.map((sheet) => ({
      name: sheet.name,
      hidden: sheet.hidden,
      hiddenColumns: findHiddenColumns(sheet.part),
      rows: rowsOf(() => readSheetRows(sheet, values)),
    })),
    facts: {},
  };
}

type Values = Pick<WorkbookParts, 'sharedStrings' | 'styles' | 'isPaper'>;

/** Reads the rows of one sheet and omits rows without cells. Only the current row is held in memory. */
function* readSheetRows({ part, findPainted }: SheetPart, values: Values): Generator<SheetRow> {
  const ready: SheetRow[] = [];
  const merges = createMerges(part);
  let painted: IsPainted | undefined;
  const isPainted: IsPainted = (row, column) => {
    painted ??= findPainted();
    return painted(row, column);
  };
  const events = createRowEvents({ ...values, isPainted }, (row) => ready.push(merges.fill(row)));
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
  /** What people see of a string in the cell on white paper. */
  seen?: string | undefined;
}

type RowDraft = {
  row: number;
  cells: string[];
  hidden: boolean;
  errors: number[];
  isCut: boolean;
  seen?: Map<number, string>;
};

function createRowEvents(values: Values & { readonly isPainted: IsPainted }, onRow: (row: SheetRow) => void) {
  let row: RowDraft | undefined;
  let lastRow = 0;
  let nextColumn = 0;
  let cell: Cell | undefined;
  let inValue = false;
  const inline = createRichText(values.isPaper);

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
    if (cell.type === 'inlineStr') Object.assign(cell, inline.take());
    const style = values.styles[cell.style] ?? usualStyle;
    const value = readValue(cell, values.sharedStrings);
    const shown = cell.type === 'e' || cell.type === 'd' ? String(value) : style.format(value);
    // A format such as `;;;` shows nothing. Others only show no zeros.
    const isSilent = shown === '' && value !== '' && value !== 0;
    const text = isSilent ? general(value) : shown;
    if (cell.column >= mostColumns) row.isCut ||= text !== '';
    else if (text !== '') put(row, cell.column, text);
    const seen = isSilent ? '' : seenOn(style, cell.seen, text);
    if (seen !== text && text.trim() !== '' && (isSilent || !values.isPainted(row.row, cell.column))) {
      row.seen ??= new Map();
      row.seen.set(cell.column, seen);
    }
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

/** Returns what people see of a text in a cell of a style. @param colored what they see on white paper, if its runs have colours */
function seenOn({ isBare, isWhite, format }: CellStyle, colored: string | undefined, text: string): string {
  if (!isBare) return text;
  if (colored !== undefined) return format(colored);
  return isWhite ? '' : text;
}

function put(row: RowDraft, column: number, text: string): void {
  while (row.cells.length < column) row.cells.push('');
  row.cells[column] = text;
}

function finish({ row, cells, hidden, errors, isCut, seen }: RowDraft): SheetRow {
  return {
    row,
    cells,
    ...(hidden ? { hidden } : {}),
    ...(errors.length === 0 ? {} : { errors }),
    ...(isCut ? { isCut } : {}),
    ...(seen === undefined ? {} : { seen }),
  };
}

/** The value of a cell, for its format. Errors and ISO dates follow no format. */
function readValue(cell: Cell, sharedStrings: Values['sharedStrings']): string | number {
  const { type, text } = cell;
  switch (type) {
    case 's': {
      const shared = sharedStrings[Number(text)] ?? '';
      if (typeof shared === 'string') return shared;
      cell.seen = shared.seen;
      return shared.text;
    }
    case 'inlineStr':
    case 'str':
      return unescapeText(text);
    case 'b':
      return isTrue(text.trim()) ? 'TRUE' : 'FALSE';
    case 'e':
      return text;
    case 'd':
      return text.replace(/T00:00:00(?:\.0+)?Z?$/, '');
    default: {
      const value = Number(text);
      if (text.trim() === '') return '';
      return Number.isNaN(value) ? text : value;
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
        if (merge.firstRow === row.row) merge.value = row.seen?.get(merge.column) ?? row.cells[merge.column] ?? '';
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
  const found: Merge[] = [];
  // A tag contains no `<`, so no byte belongs to two candidates.
  for (const [tag] of readTail(part).matchAll(/<(?:\w+:)?mergeCell\s[^<>]*/g)) {
    if (found.length === mostMerges) break;
    const range = rangeOf(/ref="([A-Z]+\d+:[A-Z]+\d+)"/.exec(tag)?.[1] ?? '');
    if (range !== undefined && range.lastRow > range.firstRow)
      found.push({ firstRow: range.firstRow, lastRow: range.lastRow, column: range.firstColumn, value: '' });
  }
  return found.sort((a, b) => a.firstRow - b.firstRow);
}
