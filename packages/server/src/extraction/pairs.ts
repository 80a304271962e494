import type { RejectedRow, RowRejectionCode } from './extraction.ts';
import type { Sheet, SheetRow, Workbook } from './sheet.ts';
import { headerMissing } from './unreadable.ts';

export interface Pair {
  readonly sheet: string | null;
  readonly row: number;
  readonly question: string;
  readonly answer: string;
  /** The other columns: at most 16, values at most 512 characters. */
  readonly metadata: Record<string, string>;
}

export type PairOrRejection = { readonly pair: Pair } | { readonly rejected: RejectedRow };

export interface PairColumns {
  readonly question: number;
  readonly answer: number;
  /** Column index and name of what becomes metadata. */
  readonly others: ReadonlyArray<readonly [index: number, name: string]>;
}

const limits = { pair: 65_535, entries: 16, name: 64, value: 512, excerpt: 200 };

/** Finds the columns by their names, whatever their case, width, blanks and order; null when one is missing. */
export function findPairColumns(header: readonly string[]): PairColumns | null {
  const names = header.map((cell) => cell.normalize('NFKC').replace(/\s+/g, '').toLowerCase());
  const question = names.indexOf('question');
  const answer = names.indexOf('answer');
  if (question === -1 || answer === -1) return null;
  const others: Array<readonly [number, string]> = [];
  for (const [index, cell] of header.entries()) {
    const name = cut(cell.trim(), limits.name);
    const taken = name === '' || others.some(([, other]) => other === name);
    if (index === question || index === answer || taken || others.length === limits.entries) continue;
    others.push([index, name]);
  }
  return { question, answer, others };
}

/**
 * Question–answer pairs of all sheets that have a header, in order. Every row with a value is either a pair or a
 * rejection. Blank rows are none.
 * @throws Unreadable `header_missing` when no sheet has a header, once all were tried.
 */
export function* readPairs(workbook: Workbook, warnings: string[]): Generator<PairOrRejection> {
  let headers = 0;
  for (const sheet of workbook.sheets) {
    const rows = withoutBlank(sheet.rows);
    const first = rows.next();
    if (first.done === true) continue;
    const columns = findPairColumns(first.value.cells);
    if (columns === null) {
      warnings.push(`${sheetName(sheet)} was not read: its first row does not name the columns question and answer.`);
      continue;
    }
    headers += 1;
    for (const row of rows) yield readRow(sheet, row, columns);
  }
  if (headers === 0) throw headerMissing();
}

function* withoutBlank(rows: Iterable<SheetRow>): Generator<SheetRow, undefined> {
  for (const row of rows) if (row.cells.some((cell) => cell.trim() !== '')) yield row;
}

function sheetName(sheet: Sheet): string {
  return sheet.name === null ? 'The sheet' : `The sheet ${JSON.stringify(sheet.name)}`;
}

function readRow(sheet: Sheet, row: SheetRow, columns: PairColumns): PairOrRejection {
  const question = clean(row.cells[columns.question]);
  const answer = clean(row.cells[columns.answer]);
  const code = rejection(question, answer);
  if (code !== null) {
    const excerpt = cut(clean(row.cells.filter((cell) => cell.trim() !== '').join(' | ')), limits.excerpt);
    return { rejected: { sheet: sheet.name, row: row.row, code, excerpt } };
  }
  const metadata: Record<string, string> = {};
  for (const [index, name] of columns.others) {
    const value = cut(clean(row.cells[index]), limits.value);
    if (value !== '') metadata[name] = value;
  }
  return { pair: { sheet: sheet.name, row: row.row, question, answer, metadata } };
}

function rejection(question: string, answer: string): RowRejectionCode | null {
  if (question === '') return 'empty_question';
  if (answer === '') return 'empty_answer';
  return question.length + answer.length > limits.pair ? 'too_long' : null;
}

/** What a database can store, without blanks around it. */
function clean(cell: string | undefined): string {
  return (cell ?? '').replaceAll('\0', '').toWellFormed().trim();
}

/** Never between the halves of a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
