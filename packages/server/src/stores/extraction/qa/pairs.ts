import { hash } from 'node:crypto';
import type { SheetColumns } from '@quartermaster/contract';
import { cut } from '../cut-text.ts';
import type { OnDuplicate, ReportedRow, RowCode, RowFields, SheetReport } from '../extraction.ts';
import { type FoundHeader, findHeader, type PairColumns, reportPrefix, withoutGuard } from './pair-columns.ts';
import { columnsNotFound } from './propose-columns.ts';
import {
  columnName,
  isBlank,
  type Sheet,
  type SheetRow,
  visibleSheets,
  type Warn,
  type Workbook,
  warnOfHiddenRows,
} from './sheet.ts';

export interface Pair {
  readonly sheet: string | null;
  readonly row: number;
  /** The cells of question and answer, such as `A2` and `B2`. */
  readonly cells: readonly [question: string, answer: string];
  readonly question: string;
  readonly answer: string;
  /** The other columns: at most 16, values at most 512 characters. */
  readonly metadata: Record<string, string>;
  readonly rowKey: string;
}

export type PairOrReport = { readonly pair: Pair } | { readonly reported: ReportedRow };

export interface PairOptions {
  readonly onDuplicate: OnDuplicate;
  /** The columns that the request names. Default: all are found by their names. */
  readonly columns?: SheetColumns | null;
  readonly warn: Warn;
  /** Called for each sheet after it was read. */
  readonly onSheet: (sheet: SheetReport) => void;
}

const limits = { pair: 65_535, value: 512, excerpt: 200, columns: 40, columnName: 64 };

/**
 * Reads the question–answer pairs of all visible sheets whose columns are found, in order. Every visible row with a value
 * below the header is either a pair or reported. Warnings name what is hidden; `include_hidden` reads it, too.
 * @throws ExtractionError `columns_not_found` when there are rows, but the columns are found in no sheet.
 */
export function* readPairs(workbook: Workbook, options: PairOptions): Generator<PairOrReport> {
  const { include_hidden: includeHidden = false, ...wanted } = options.columns ?? {};
  const found = visibleSheets(workbook.sheets, includeHidden, options.warn).map((sheet) => ({
    sheet,
    header: findHeader(sheet, wanted),
  }));
  const readable = found.filter(({ header }) => 'columns' in header);
  const keys = createKeys(options.onDuplicate, readable);
  for (const { sheet, header } of found) {
    let count = { rows: 0, hidden: 0 };
    if ('columns' in header) {
      warnOfColumns(sheet, header, options.warn);
      count = yield* readSheet(sheet, header, { keys, warn: options.warn });
    }
    options.onSheet(toReport(sheet, header, count));
  }
  const unread = found.flatMap(({ sheet: { name }, header }) =>
    header.kind === 'missing' ? [{ name, ...header }] : [],
  );
  if (readable.length === 0 && unread.length > 0) throw columnsNotFound(unread, wanted);
}

type ReadableHeader = Extract<FoundHeader, { columns: PairColumns }>;

interface Reading {
  readonly keys: Keys;
  readonly warn: Warn;
}

function* readSheet(sheet: Sheet, header: ReadableHeader, { keys, warn }: Reading): Generator<PairOrReport, Counted> {
  const count = { rows: 0, hidden: 0 };
  for (const row of rowsBelow(sheet, header)) {
    if (row.hidden === true) {
      count.hidden += 1;
      continue;
    }
    count.rows += 1;
    const read = readRow(sheet, row, header.columns);
    const isDuplicate = 'pair' in read && keys.isDuplicate(read.pair.rowKey);
    if (isDuplicate) yield { reported: toReported({ sheet, row, columns: header.columns }, 'duplicate_in_file') };
    else yield read;
    if ('pair' in read && isValueCut(row, header.columns)) {
      warn(`Values of other columns are cut at ${limits.value} characters.`);
    }
  }
  warnOfHiddenRows(sheet, count.hidden, warn);
  return count;
}

interface Counted {
  readonly rows: number;
  readonly hidden: number;
}

function* rowsBelow(sheet: Sheet, header: ReadableHeader): Generator<SheetRow> {
  const from = header.kind === 'found' ? header.headerRow : 0;
  for (const row of sheet.rows) if (row.row > from && !isBlank(row)) yield row;
}

interface Keys {
  /** Called once for each pair, in order. */
  isDuplicate(rowKey: string): boolean;
}

/**
 * With `skip` the first duplicate is kept. With `replace` the last is kept, which requires a first pass over all rows.
 */
function createKeys(
  policy: OnDuplicate,
  found: ReadonlyArray<{ readonly sheet: Sheet; readonly header: FoundHeader }>,
): Keys {
  if (policy === 'keep') return { isDuplicate: () => false };
  if (policy === 'replace') return createLastKeys(found);
  const seen = new Set<string>();
  return {
    isDuplicate: (key) => {
      if (seen.has(key)) return true;
      seen.add(key);
      return false;
    },
  };
}

function createLastKeys(found: Parameters<typeof createKeys>[1]): Keys {
  const remaining = new Map<string, number>();
  for (const { sheet, header } of found) {
    if (!('columns' in header)) continue;
    for (const row of rowsBelow(sheet, header)) {
      if (row.hidden === true) continue;
      const read = readRow(sheet, row, header.columns);
      if ('pair' in read) remaining.set(read.pair.rowKey, (remaining.get(read.pair.rowKey) ?? 0) + 1);
    }
  }
  return {
    isDuplicate: (key) => {
      const more = (remaining.get(key) ?? 1) - 1;
      remaining.set(key, more);
      return more > 0;
    },
  };
}

interface Place {
  readonly sheet: Sheet;
  readonly row: SheetRow;
  readonly columns: PairColumns;
}

function readRow(sheet: Sheet, row: SheetRow, columns: PairColumns): PairOrReport {
  const { question, answer, metadata } = readFields(row, columns);
  const code = rejection({ sheet, row, columns }, { question, answer });
  if (code !== null) return { reported: toReported({ sheet, row, columns }, code) };
  const limited: Record<string, string> = Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, cut(value, limits.value)]),
  );
  const id = columns.id === null ? '' : clean(row.cells[columns.id]);
  const cells = [columnName(columns.question) + row.row, columnName(columns.answer) + row.row] as const;
  const place = { sheet: sheet.name, row: row.row, cells };
  return { pair: { ...place, question, answer, metadata: limited, rowKey: rowKeyOf(question, id) } };
}

function rejection(
  { sheet, row, columns }: Place,
  { question, answer }: { question: string; answer: string },
): RowCode | null {
  if (row.isCut === true || hasExtraCells(sheet, row, columns)) return 'extra_columns';
  if (badColumn(row, columns) !== undefined) return 'bad_cell';
  if (question === '') return 'empty_question';
  if (answer === '') return 'empty_answer';
  return question.length + answer.length > limits.pair ? 'too_long' : null;
}

/** Missing quotes add cells only in CSV, which has no grid. */
function hasExtraCells(sheet: Sheet, row: SheetRow, columns: PairColumns): boolean {
  return sheet.name === null && row.cells.slice(columns.width).some((cell) => cell.trim() !== '');
}

function badColumn(row: SheetRow, { question, answer, id }: PairColumns): number | undefined {
  return row.errors?.find((column) => column === question || column === answer || column === id);
}

function toReported(place: Place, code: RowCode): ReportedRow {
  const { sheet, row, columns } = place;
  const excerpt = cut(clean(row.cells.filter((cell) => cell.trim() !== '').join(' | ')), limits.excerpt);
  return {
    sheet: sheet.name,
    row: row.row,
    column: blamed(place, code),
    code,
    excerpt,
    fields: wholeRow(row, columns),
  };
}

function blamed({ row, columns }: Place, code: RowCode): string | null {
  switch (code) {
    case 'empty_question':
      return columnName(columns.question);
    case 'empty_answer':
      return columnName(columns.answer);
    case 'bad_cell':
      return columnName(badColumn(row, columns) ?? columns.question);
    case 'extra_columns':
      return columnName(columns.width);
    default:
      return null;
  }
}

/** Includes the cells beyond the header, so that nothing of the row is lost. */
function wholeRow(row: SheetRow, columns: PairColumns): RowFields {
  const fields = readFields(row, columns);
  const extra = row.cells.slice(columns.width).map((cell) => clean(cell));
  if (extra.every((cell) => cell === '')) return fields;
  return { ...fields, metadata: { ...fields.metadata, [`${reportPrefix}extra`]: extra.join(' | ') } };
}

function readFields(row: SheetRow, columns: PairColumns): RowFields {
  const read = (index: number) => {
    const value = clean(row.cells[index]);
    return columns.isReport ? withoutGuard(value) : value;
  };
  // A column may be named like a property of every object, such as `__proto__`. Object.fromEntries creates an own
  // property.
  const named = columns.others.map(([index, name]) => [name, read(index)] as const);
  const metadata: Record<string, string> = Object.fromEntries(named.filter(([, value]) => value !== ''));
  return { question: read(columns.question), answer: read(columns.answer), metadata };
}

function isValueCut(row: SheetRow, { others }: PairColumns): boolean {
  return others.some(
    ([index]) => (row.cells[index]?.length ?? 0) > limits.value && clean(row.cells[index]).length > limits.value,
  );
}

function warnOfColumns(sheet: Sheet, { columns }: ReadableHeader, warn: Warn): void {
  const name = sheet.name === null ? 'The sheet' : `The sheet ${JSON.stringify(sheet.name)}`;
  if (columns.left.length > 0) {
    warn(
      `${name}: these columns were not kept, as they are too many or named twice: ${columns.left.slice(0, 20).join(', ')}.`,
    );
  }
  if (columns.isByShape === true) {
    const [question, answer] = [columns.question, columns.answer].map(columnName);
    const found = `By their values, ${question} has the questions and ${answer} the answers.`;
    warn(`${name}: no names tell the columns of questions and answers. ${found} Send \`columns\` to choose.`);
  }
  if (columns.rivals.length > 0) {
    const rivals = columns.rivals.slice(0, 20).join(', ');
    warn(
      `${name}: these columns may contain questions or answers too, and became metadata: ${rivals}. Send \`columns\` to choose.`,
    );
  }
}

function toReport(sheet: Sheet, header: FoundHeader, { rows, hidden }: Counted): SheetReport {
  const columns = header.names.slice(0, limits.columns).map((name) => cut(clean(name), limits.columnName));
  return {
    name: sheet.name,
    header: header.kind,
    ...(header.kind === 'found' ? { header_row: header.headerRow } : {}),
    columns: header.kind === 'none' ? [] : columns,
    rows,
    ...(hidden === 0 ? {} : { hidden_rows: hidden }),
  };
}

/** Returns the text that a database can store, without surrounding blanks. */
function clean(cell: string | undefined): string {
  return (cell ?? '').replaceAll('\0', '').toWellFormed().trim();
}

/**
 * Returns a digest of 128 bits that identifies a row across uploads. It depends on the id if there is one, otherwise on
 * the question, ignoring case, width and blanks.
 */
function rowKeyOf(question: string, id: string): string {
  const name = id === '' ? `q:${fold(question)}` : `id:${id.normalize('NFKC').trim()}`;
  return hash('sha256', name, 'base64url').slice(0, 22);
}

const ascii = /^[\0-\x7f]*$/;

/** Matches blanks other than a single space. Testing is faster than replacing every blank. */
const unusualBlank = /\s\s|[^\S ]/;

/** Converts to upper case first, because letters such as ß and ς have several lower-case forms. */
function fold(text: string): string {
  const folded = ascii.test(text)
    ? text.toLowerCase()
    : text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return (unusualBlank.test(folded) ? folded.replace(/\s+/g, ' ') : folded).trim();
}
