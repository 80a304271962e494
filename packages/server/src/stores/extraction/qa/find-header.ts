import type { SheetColumns } from '@quartermaster/contract';
import { exactRank } from './match-name.ts';
import { findPairColumns, numberedColumns, type PairColumns } from './pair-columns.ts';
import { isBlank, type Sheet, type SheetRow } from './sheet.ts';

export type FoundHeader =
  | {
      readonly kind: 'found';
      readonly columns: PairColumns;
      readonly headerRow: number;
      readonly names: readonly string[];
    }
  /** The request gives the numbers of the columns, and the sheet has no header. */
  | { readonly kind: 'none'; readonly columns: PairColumns; readonly names: readonly string[] }
  | { readonly kind: 'missing'; readonly names: readonly string[]; readonly firstRows: readonly SheetRow[] }
  | { readonly kind: 'empty'; readonly names: readonly string[] };

/** The maximum number of title rows above a header. */
const mostTitleRows = 10;
/** The number of rows in which columns that the request names are looked for, and which a proposal is based on. */
const lookedAt = 50;

/** Finds the row that names the columns. Rows without a value do not count. */
export function findHeader(sheet: Sheet, wanted: SheetColumns): FoundHeader {
  if (wanted.header_row !== undefined && wanted.header_row > 0) return headerAt(sheet, wanted, wanted.header_row);
  const rows: SheetRow[] = [];
  const numbered = numberedColumns(wanted);
  const isNamed = [wanted.question, wanted.answer].some((column) => typeof column === 'string');
  for (const row of sheet.rows) {
    if (isBlank(row)) continue;
    if (numbered !== null) return { kind: 'none', columns: numbered, names: row.cells };
    const isTried = wanted.header_row !== 0 && (isNamed || rows.length < mostTitleRows);
    const columns = isTried ? columnsIn(row, { wanted, above: rows }) : null;
    if (columns !== null) return { kind: 'found', columns, headerRow: row.row, names: row.cells };
    rows.push(row);
    if (rows.length === lookedAt) break;
  }
  return rows.length === 0 ? { kind: 'empty', names: [] } : missing(rows);
}

/** Longer names are accepted in the first row with two values only, because further down they may be values themselves. */
function columnsIn(
  row: SheetRow,
  { wanted, above }: { readonly wanted: SheetColumns; readonly above: readonly SheetRow[] },
): PairColumns | null {
  const exact = findPairColumns(row.cells, { wanted, match: 'exact' });
  if (exact !== null || above.some((title) => filled(title) > 1)) return exact;
  return findPairColumns(row.cells, { wanted, match: 'loose' });
}

function headerAt(sheet: Sheet, wanted: SheetColumns, headerRow: number): FoundHeader {
  const rows: SheetRow[] = [];
  for (const row of sheet.rows) {
    if (row.row > headerRow) break;
    if (row.row === headerRow) {
      const columns = findPairColumns(row.cells, { wanted, match: 'loose' });
      if (columns !== null) return { kind: 'found', columns, headerRow, names: row.cells };
    }
    if (!isBlank(row) && rows.length < lookedAt) rows.push(row);
  }
  return rows.length === 0 ? { kind: 'empty', names: [] } : missing(rows);
}

function missing(rows: readonly SheetRow[]): FoundHeader {
  const shown = rows.slice(0, mostTitleRows);
  const named = shown.find(({ cells }) => cells.some((cell) => isAccepted(cell)));
  return { kind: 'missing', names: (named ?? widest(shown)).cells, firstRows: rows };
}

function isAccepted(cell: string): boolean {
  return exactRank(cell, 'question') !== null || exactRank(cell, 'answer') !== null;
}

function widest(rows: readonly SheetRow[]): SheetRow {
  return rows.reduce((best, row) => (filled(row) > filled(best) ? row : best));
}

function filled(row: SheetRow): number {
  return row.cells.filter((cell) => cell.trim() !== '').length;
}
