import { mostColumns, type SheetRow } from '../../qa/sheet.ts';
import { columnOf } from './cell-reference.ts';
import { createMerges } from './merged-cells.ts';
import { general } from './number-format.ts';
import { isTrue, unescapeText, type WorkbookParts } from './package-parts.ts';
import { type Attributes, readXml } from './xml-events.ts';

type Values = Pick<WorkbookParts, 'sharedStrings' | 'formats'>;

/** Reads the rows of one sheet and omits rows without cells. Only the current row is held in memory. */
export function* readSheetRows(part: Uint8Array, values: Values): Generator<SheetRow> {
  const ready: SheetRow[] = [];
  const merges = createMerges(part);
  const events = createRowEvents(values, (row) => ready.push(merges.fill(row)));
  for (const _ of readXml(part, events)) {
    yield* ready;
    ready.length = 0;
  }
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
  let inPhonetic = false;

  function openRow({ r, hidden }: Attributes): void {
    lastRow = r === undefined ? lastRow + 1 : Number(r) || lastRow + 1;
    row = { row: lastRow, cells: [], hidden: isTrue(hidden), errors: [], isCut: false };
    nextColumn = 0;
  }

  function openCell({ r, t = 'n', s = '0' }: Attributes): void {
    const column = r === undefined ? nextColumn : columnOf(r);
    nextColumn = column + 1;
    cell = { column, type: t, style: Number(s), text: '' };
  }

  function closeCell(): void {
    if (row === undefined || cell === undefined) return;
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
      else if (name === 'v' || (name === 't' && !inPhonetic)) inValue = cell !== undefined;
      else if (name === 'row') openRow(attributes);
      else if (name === 'rPh') inPhonetic = true;
    },
    text: (text: string) => {
      if (inValue && cell !== undefined) cell.text += text;
    },
    close: (name: string) => {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'c') closeCell();
      else if (name === 'row') closeRow();
      else if (name === 'rPh') inPhonetic = false;
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
