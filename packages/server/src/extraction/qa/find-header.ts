import { assumePairColumns, findPairColumns, isPairName, type PairColumns } from './pair-columns.ts';
import { isBlank, type Sheet, type SheetRow } from './sheet.ts';

export type FoundHeader =
  | {
      readonly kind: 'found';
      readonly columns: PairColumns;
      readonly headerRow: number;
      readonly names: readonly string[];
    }
  | { readonly kind: 'assumed_none'; readonly columns: PairColumns; readonly names: readonly string[] }
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  | { readonly kind: 'empty'; readonly names: readonly string[] };

/** The maximum number of title rows above a header. */
const mostTitleRows = 10;
/** The number of rows that decide whether a sheet without a header contains pairs. */
const lookedAt = 50;

/** Finds the row that names the columns, or two columns that need no names. Rows without a value do not count. */
export function findHeader(sheet: Sheet): FoundHeader {
  const rows: SheetRow[] = [];
  for (const row of sheet.rows) {
    if (isBlank(row)) continue;
    const columns = rows.length < mostTitleRows ? findPairColumns(row.cells) : null;
    if (columns !== null) return { kind: 'found', columns, headerRow: row.row, names: row.cells };
    rows.push(row);
    if (rows.length === lookedAt) break;
  }
  const [first] = rows;
  if (first === undefined) return { kind: 'empty', names: [] };
  const names = widest(rows.slice(0, mostTitleRows)).cells;
  const columns = first.cells.some((cell) => isPairName(cell)) ? null : findTwoColumns(rows);
  return columns === null ? { kind: 'missing', names } : { kind: 'assumed_none', columns, names };
}

function widest(rows: readonly SheetRow[]): SheetRow {
  return rows.reduce((best, row) => (filled(row).length > filled(best).length ? row : best));
}

function filled(row: SheetRow): number[] {
  return [...row.cells.entries()].flatMap(([index, cell]) => (cell.trim() === '' ? [] : [index]));
}

/** Finds two columns that contain all values, with most rows having both. */
function findTwoColumns(rows: readonly SheetRow[]): PairColumns | null {
  if (rows.some((row) => row.isCut === true)) return null;
  const used = [...new Set(rows.flatMap(filled))].toSorted((a, b) => a - b);
  const [question, answer] = used;
  if (question === undefined || answer === undefined || used.length > 2) return null;
  const whole = rows.filter((row) => filled(row).length === 2).length;
  return whole * 2 > rows.length ? assumePairColumns(question, answer) : null;
}
