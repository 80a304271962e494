import { rowCodes } from '../../extraction/extraction.ts';
import type { StoredRow } from './record-row-repository.ts';

/** CSV in pieces. */
export type RowSheet = AsyncIterable<string>;

const byteOrderMark = '\ufeff';
/** Says why a row is in the sheet; the reader of sheets leaves these columns out when the sheet comes back. */
const reportColumns = ['qm:sheet', 'qm:row', 'qm:column', 'qm:code', 'qm:message'] as const;

/**
 * Rows as a CSV sheet (RFC 4180, UTF-8 with a mark, so that spreadsheets read it): question, answer, all other columns
 * that one of the rows has, and why it was refused. `rows` is gone through twice, the first time for the columns.
 */
export async function* writeRowSheet(rows: () => AsyncIterable<StoredRow>): RowSheet {
  const names = new Set<string>();
  for await (const { fields } of rows()) for (const name of Object.keys(fields.metadata)) names.add(name);
  yield byteOrderMark + line(['question', 'answer', ...names, ...reportColumns]);
  for await (const row of rows()) {
    const { question, answer, metadata } = row.fields;
    const others = [...names].map((name) => (Object.hasOwn(metadata, name) ? (metadata[name] ?? '') : ''));
    const report = [row.sheet ?? '', String(row.row), row.column ?? '', row.code, rowCodes[row.code].message];
    yield line([question, answer, ...others, ...report]);
  }
}

function line(cells: readonly string[]): string {
  return `${cells.map((cell) => quote(guard(cell))).join(',')}\r\n`;
}

/**
 * A spreadsheet computes a cell that begins like a formula. An apostrophe keeps it from that, and the reader of sheets
 * takes it away again; one more where there are some already, so that nothing is lost on the way.
 */
function guard(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

function quote(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
