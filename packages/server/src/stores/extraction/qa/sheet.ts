import { cutName, warnOfCutNames } from '../cut-text.ts';
import type { ExtractionReport } from '../extraction.ts';

/** The result of every reader of a sheet format. */
export interface Workbook {
  readonly sheets: readonly Sheet[];
  readonly drawings?: Drawings;
  /** What the reader of the file warns of. */
  readonly warnings?: readonly string[];
  readonly facts: Pick<ExtractionReport, 'encoding' | 'encoding_confidence' | 'replaced' | 'dialect'>;
}

/** What stands over and beside the cells of the visible sheets. */
export interface Drawings {
  /** The text of each box and the title of each chart. The data of charts are in cells. */
  readonly texts: readonly string[];
  /** Characters of comments, which are not read. */
  readonly commentCharacters: number;
  /** The number of pictures. */
  readonly pictures: number;
}

export interface Sheet {
  /** Null for CSV, which has no name. */
  readonly name: string | null;
  readonly hidden: boolean;
  /** Columns, from 0, that are hidden or have no width. */
  readonly hiddenColumns?: ReadonlySet<number>;
  /** Rows are read on demand and may be iterated more than once. */
  readonly rows: Iterable<SheetRow>;
}

export interface SheetRow {
  /** Row of the sheet, or line on which the CSV record begins, from 1. */
  readonly row: number;
  readonly cells: readonly string[];
  readonly hidden?: boolean;
  /** What people see of cells, by column, of which they do not see all: white on white, or with a format that shows nothing. */
  readonly seen?: ReadonlyMap<number, string>;
  /** Columns, from 0, whose cell holds the error of a formula, such as `#N/A`. */
  readonly errors?: readonly number[];
  /** The row has more cells than `mostColumns`; the others were not read. */
  readonly isCut?: boolean;
}

/** The maximum number of columns read from a row. */
export const mostColumns = 1024;

/** Adds a warning for the sender of the sheet. Repeated warnings are added once. */
export type Warn = (warning: string) => void;

const mostWarnings = 20;

export function createWarn(warnings: string[]): Warn {
  const reported = new Set(warnings);
  return (warning) => {
    if (reported.size >= mostWarnings || reported.has(warning)) return;
    reported.add(warning);
    warnings.push(warning);
  };
}

/** Cuts the names of sheets to the length that a locator holds. */
export function cutSheetNames(sheets: readonly Sheet[], warn: Warn): Sheet[] {
  const names = sheets.map(({ name }) => (name === null ? null : cutName(name)));
  const count = sheets.filter(({ name }, at) => name !== names[at]).length;
  for (const warning of warnOfCutNames(count, 'sheet names')) warn(warning);
  return sheets.map((sheet, at) => ({ ...sheet, name: names[at] ?? null }));
}

const mostNamed = 20;

/** Returns the warning about hidden sheets, if there are any. */
export function describeHiddenSheets(sheets: readonly Sheet[]): string[] {
  const names = sheets.filter(({ hidden }) => hidden).map(({ name }) => JSON.stringify(name));
  if (names.length === 0) return [];
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return [`hidden_sheets: These sheets are hidden and were not read: ${names.slice(0, mostNamed).join(', ')}${more}.`];
}

/** Returns the warning about hidden rows of a sheet. */
export function describeHiddenRows(name: string | null, count: number): string {
  return `hidden_rows: ${count} rows${ofSheet(name)} are hidden and were not read.`;
}

/** Returns a sheet without the cells of its hidden columns and those without visible text, and warns of both. */
export function withoutHiddenCells(sheet: Sheet, warn: Warn, remedy = ''): Sheet {
  const { name, hiddenColumns: hidden = new Set() } = sheet;
  const warned = new Set<string>();
  const warnOnce = (kind: string, text: () => string) => {
    if (!warned.has(kind)) warn(`${kind}: ${text()}${remedy}`);
    warned.add(kind);
  };
  const blanked = (row: SheetRow): SheetRow => {
    if ((hidden.size === 0 && row.seen === undefined) || row.hidden === true) return row;
    const { cells, seen, row: number } = row;
    const found = cells.flatMap((cell, at) => (hidden.has(at) && cell.trim() !== '' ? [at] : []));
    const first = seen?.keys().find((at) => !hidden.has(at));
    const columns = found.slice(0, mostNamed).map(columnName).join(', ');
    if (found.length > 0)
      warnOnce('hidden_columns', () => `These columns${ofSheet(name)} are hidden and were not read: ${columns}.`);
    if (first !== undefined)
      warnOnce('hidden_cells', () => `${unseenCells(name)} The first is ${columnName(first)}${number}.`);
    if (found.length === 0 && first === undefined) return row;
    return { ...row, cells: cells.map((cell, at) => (hidden.has(at) ? '' : (seen?.get(at) ?? cell))) };
  };
  return {
    ...sheet,
    rows: {
      *[Symbol.iterator]() {
        for (const row of sheet.rows) yield blanked(row);
      },
    },
  };
}

const unseenCells = (name: string | null) =>
  `Cells${ofSheet(name)} that are white on white, or whose format shows nothing, were not read.`;

export function ofSheet(name: string | null): string {
  return name === null ? '' : ` of the sheet ${JSON.stringify(name)}`;
}

/** Returns rows that are created again for each iteration. */
export function rowsOf(open: () => Iterator<SheetRow>): Iterable<SheetRow> {
  return { [Symbol.iterator]: open };
}

export function isBlank(row: SheetRow): boolean {
  return row.isCut !== true && row.cells.every((cell) => cell.trim() === '');
}

/** The name of a column as spreadsheets show it: 0 is A, 26 is AA. */
export function columnName(index: number): string {
  const first = Math.floor(index / 26);
  return (first === 0 ? '' : columnName(first - 1)) + String.fromCharCode(65 + (index % 26));
}

const hiddenRemedy = 'Send "include_hidden": true in `columns` to read them.';

/** Returns the sheets whose pairs are read, on request with everything that is hidden, and warns of those that are not. */
export function visibleSheets(sheets: readonly Sheet[], includeHidden: boolean, warn: Warn): readonly Sheet[] {
  if (includeHidden)
    return sheets.map((sheet) => ({
      ...sheet,
      hidden: false,
      rows: {
        *[Symbol.iterator]() {
          for (const row of sheet.rows) yield row.hidden === true ? { ...row, hidden: false } : row;
        },
      },
    }));
  for (const warning of describeHiddenSheets(sheets)) warn(`${warning} ${hiddenRemedy}`);
  return sheets.filter(({ hidden }) => !hidden).map((sheet) => withoutHiddenCells(sheet, warn, ` ${hiddenRemedy}`));
}

export function warnOfHiddenRows({ name }: Sheet, count: number, warn: Warn): void {
  if (count > 0) warn(`${describeHiddenRows(name, count)} ${hiddenRemedy}`);
}
