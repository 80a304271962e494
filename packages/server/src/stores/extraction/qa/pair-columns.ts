import type { SheetColumn, SheetColumns } from '@quartermaster/contract';
import { cut } from '../cut-text.ts';
import { asksBelow, columnsByShape, contradicts, isHeaderLike, isQuiz, longerThan } from './column-shapes.ts';
import {
  exactRank,
  isPlainName,
  isSpeakers,
  mentions,
  normaliseName,
  type PairRole,
  rankOfName,
} from './match-name.ts';
import { isBlank, type Sheet, type SheetRow } from './sheet.ts';

/**
 * The prefix of the columns that explain refused rows. When the sheet is uploaded again, they are not part of its
 * pairs.
 */
export const reportPrefix = 'qm:';

const limits = { entries: 16, name: 64 };

export interface PairColumns {
  readonly question: number;
  readonly answer: number;
  /** The column that identifies the row across uploads. It is metadata as well. */
  readonly id: number | null;
  /** The index and name of each column that becomes metadata. */
  readonly others: ReadonlyArray<readonly [index: number, name: string]>;
  /** The names of the columns that are ignored because there are too many. */
  readonly left: readonly string[];
  /** The names of further columns that may contain questions or answers. They became metadata. */
  readonly rivals: readonly string[];
  /** Whether the values decided, because the names did not. */
  readonly isByShape?: boolean;
  /** Whether the sheet is a report of refused rows that was uploaded again. */
  readonly isReport: boolean;
  readonly width: number;
}

export interface Named {
  /** The columns that the request names. */
  readonly wanted: SheetColumns;
  /** `exact` accepts the accepted names alone, `loose` also longer names that contain one. */
  readonly match: 'exact' | 'loose';
}

/** Finds the columns by the names in a header, in any order; null when one is missing. */
export function findPairColumns(header: readonly string[], { wanted, match }: Named): PairColumns | null {
  const taken = new Set<number>();
  for (const column of [wanted.question, wanted.answer, wanted.id, wanted.tags]) {
    if (column === undefined) continue;
    const index = indexOf(header, column);
    if (index === -1) return null;
    taken.add(index);
  }
  const find = (role: PairRole) => {
    const column = wanted[role];
    return column === undefined ? plainest(header, { role, match, taken }) : indexOf(header, column);
  };
  const question = find('question');
  const answer = find('answer');
  if (question === -1 || answer === -1 || question === answer) return null;
  return toColumns(header, { question, answer, wanted });
}

/** Returns the columns of a sheet whose columns are given by their numbers, and which has no header. */
export function numberedColumns({ question, answer, id, tags }: SheetColumns): PairColumns | null {
  if (typeof question !== 'number' || typeof answer !== 'number' || question === answer) return null;
  if (typeof id === 'string' || typeof tags === 'string') return null;
  const others = tags === undefined ? [] : [[tags - 1, 'tags'] as const];
  const width = Math.max(question, answer, id ?? 0, tags ?? 0);
  return {
    question: question - 1,
    answer: answer - 1,
    id: id === undefined ? null : id - 1,
    others,
    left: [],
    rivals: [],
    isReport: false,
    width,
  };
}

function indexOf(header: readonly string[], column: SheetColumn): number {
  if (typeof column === 'number') return column <= header.length ? column - 1 : -1;
  const name = normaliseName(column);
  // A name of punctuation alone, such as "?", is normalised to nothing.
  return header.findIndex((cell = '') => (name === '' ? cell.trim() === column.trim() : normaliseName(cell) === name));
}

/** Returns the column that names a role most plainly, and the first of several; -1 when there is none. */
function plainest(
  header: readonly string[],
  { role, match, taken }: { role: PairRole; match: Named['match']; taken: ReadonlySet<number> },
): number {
  let found = -1;
  let best = Number.POSITIVE_INFINITY;
  for (const [index, cell = ''] of header.entries()) {
    if (taken.has(index)) continue;
    const rank = (match === 'exact' ? exactRank(cell, role) : rankOfName(cell, role)) ?? Number.POSITIVE_INFINITY;
    if (rank < best) [found, best] = [index, rank];
  }
  return found;
}

interface Found {
  readonly question: number;
  readonly answer: number;
  readonly wanted: SheetColumns;
}

function toColumns(header: readonly string[], { question, answer, wanted }: Found): PairColumns {
  const others: Array<readonly [number, string]> = [];
  const left: string[] = [];
  const rivals: string[] = [];
  const isReport = header.some((cell = '') => cell.startsWith(reportPrefix));
  const tags = wanted.tags === undefined ? -1 : indexOf(header, wanted.tags);
  for (const [index, cell = ''] of header.entries()) {
    const name = index === tags ? 'tags' : metadataName(isReport ? withoutGuard(cell) : cell, index);
    if (index === question || index === answer || name.startsWith(reportPrefix)) continue;
    if (isRival(cell, wanted)) rivals.push(name);
    const isTaken = others.some(([, other]) => other === name);
    if (isTaken || others.length === limits.entries) left.push(name);
    else others.push([index, name]);
  }
  return { question, answer, id: idOf(header, wanted), others, left, rivals, isReport, width: header.length };
}

/** Whether a column that became metadata may also contain questions or answers. */
function isRival(cell: string, wanted: SheetColumns): boolean {
  const isPhrase = (role: PairRole) =>
    wanted[role] === undefined && exactRank(cell, role) === null && rankOfName(cell, role) !== null;
  return isPhrase('question') || isPhrase('answer');
}

function idOf(header: readonly string[], wanted: SheetColumns): number | null {
  if (wanted.id !== undefined) return indexOf(header, wanted.id);
  let found: number | null = null;
  let best = Number.POSITIVE_INFINITY;
  for (const [index, cell = ''] of header.entries()) {
    const rank = exactRank(cell, 'id') ?? Number.POSITIVE_INFINITY;
    if (rank < best) [found, best] = [index, rank];
  }
  return found;
}

/** Removes the apostrophe that a report of refused rows puts before text that looks like a formula. */
export function withoutGuard(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}

/** Returns the name of a metadata column: `meta.x` gives x; a column without a name is named by its number. */
function metadataName(cell: string, index: number): string {
  const name = cell
    .replaceAll('\0', '')
    .toWellFormed()
    .trim()
    .replace(/^meta\./i, '');
  if (name === '') return `column ${index + 1}`;
  if (exactRank(name, 'tags') !== null) return 'tags';
  return cut(name, limits.name);
}

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

/** Finds the row that names the columns, or the columns by their values. Rows without a value do not count. */
export function findHeader(sheet: Sheet, wanted: SheetColumns): FoundHeader {
  if (wanted.header_row !== undefined && wanted.header_row > 0) return headerAt(sheet, wanted, wanted.header_row);
  const rows = firstRows(sheet);
  const [first] = rows;
  if (first === undefined) return { kind: 'empty', names: [] };
  const numbered = numberedColumns(wanted);
  if (numbered !== null) return { kind: 'none', columns: numbered, names: first.cells };
  const isNamed = [wanted.question, wanted.answer].some((column) => typeof column === 'string');
  const tried = wanted.header_row === 0 ? [] : rows.slice(0, isNamed ? lookedAt : mostTitleRows);
  for (const [index, row] of tried.entries()) {
    const named = columnsIn(row, { wanted, above: rows.slice(0, index) });
    if (named === null) continue;
    const columns = withLongestAnswer(row, named, { wanted, below: rows.slice(index + 1) });
    if (isNamed || isConfirmed(row, columns, rows.slice(index + 1)))
      return { kind: 'found', columns, headerRow: row.row, names: row.cells };
  }
  return findByShape(rows, wanted) ?? missing(rows.slice(0, lookedAt));
}

/** Chooses the column with the longest texts when several names mention answers and none is an accepted name. */
function withLongestAnswer(
  { cells }: SheetRow,
  columns: PairColumns,
  { wanted, below }: { readonly wanted: SheetColumns; readonly below: readonly SheetRow[] },
): PairColumns {
  const { question, answer } = columns;
  if (wanted.answer !== undefined || exactRank(cells[answer] ?? '', 'answer') !== null) return columns;
  const named = cells.flatMap((cell, index) =>
    index !== question && mentions(cell, 'answer') && !mentions(cell, 'question') ? [index] : [],
  );
  const longest = longerThan(answer, named, below);
  return longest === undefined ? columns : toColumns(cells, { question, answer: longest, wanted });
}

function firstRows(sheet: Sheet): readonly SheetRow[] {
  const rows: SheetRow[] = [];
  for (const row of sheet.rows) {
    if (!isBlank(row)) rows.push(row);
    if (rows.length === lookedAt) break;
  }
  return rows;
}

function isConfirmed(row: SheetRow, columns: PairColumns, below: readonly SheetRow[]): boolean {
  if (isQuiz(row.cells, below, columns)) return false;
  if (hasPlainNames(row, columns)) return true;
  const { question, answer } = columns;
  const names = [row.cells[question] ?? '', row.cells[answer] ?? ''] as const;
  return (isSpeakers(...names) || asksBelow(below, question)) && !contradicts(below, columns);
}

/** Whether the names are words for questions and answers, which the values need not confirm. */
function hasPlainNames({ cells }: SheetRow, { question, answer }: PairColumns): boolean {
  return isPlainName(cells[question] ?? '', 'question') && isPlainName(cells[answer] ?? '', 'answer');
}

/** Finds the columns by their values if the request names none. The first row is a header if it asks nothing. */
function findByShape(rows: readonly SheetRow[], wanted: SheetColumns): FoundHeader | null {
  if (Object.values(wanted).some((column) => column !== undefined)) return null;
  const shown = rows.filter(({ hidden }) => hidden !== true);
  const [first, ...below] = shown;
  if (first === undefined) return null;
  const named = (role: PairRole) => {
    const index = plainest(first.cells, { role, match: 'loose', taken: new Set() });
    return index === -1 ? undefined : index;
  };
  const hasHeader = isHeaderLike(first);
  const rowsOfPairs = hasHeader ? below : shown;
  const found = columnsByShape(rowsOfPairs, { question: named('question'), answer: named('answer') });
  // Below a title, other tables may follow.
  if (found === null || Math.max(found.question, found.answer) >= first.cells.length) return null;
  const names = hasHeader ? first.cells : first.cells.map(() => '');
  const columns = { ...toColumns(names, { ...found, wanted }), isByShape: true };
  if (!hasHeader) return { kind: 'none', columns, names: first.cells };
  return { kind: 'found', columns, headerRow: first.row, names: first.cells };
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
