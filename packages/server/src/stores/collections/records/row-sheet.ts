import { rowCodes } from '../../extraction/extraction.ts';
import type { StoredRow } from './record-row-repository.ts';

/** A CSV file in pieces. */
export type RowSheet = AsyncIterable<string>;

const byteOrderMark = '\ufeff';
/** Columns that explain why a row is in the sheet. When the sheet is uploaded again, the reader ignores them. */
const reportColumns = ['qm:sheet', 'qm:row', 'qm:column', 'qm:code', 'qm:message'] as const;

/**
 * Writes rows as a CSV sheet (RFC 4180, UTF-8 with a byte order mark for spreadsheets). The columns are question,
 * answer, every other column of the rows, and the reason of the refusal. `rows` is iterated twice, first to collect the
 * columns.
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
 * Prefixes an apostrophe to a cell that a spreadsheet would compute as a formula. The reader of sheets removes it.
 * Existing apostrophes get one more, so that nothing is lost.
 */
function guard(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

function quote(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
