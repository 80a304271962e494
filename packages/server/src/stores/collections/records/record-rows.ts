import type { ListQuery, RecordRow, RecordRowQuery } from '@quartermaster/contract';
import { checkCursors } from '../../../platform/list-cursors.ts';
import type { Page } from '../../../platform/page.ts';
import { type ReportedRow, type RowStatus, rowCodes } from '../../extraction/extraction.ts';
import type { RecordKey } from './record-repository.ts';
import type { Records } from './records.ts';

export interface RecordRowsDeps {
  readonly records: Pick<Records, 'get'>;
  readonly rows: RecordRowRepository;
}

/** Lists the rows of a sheet that did not become a pair. */
export interface RecordRows {
  /** @throws OBJECT_NOT_FOUND when the record does not exist */
  list(key: RecordKey, query: RecordRowQuery): Promise<Page<RecordRow>>;
  /** Returns all rows, complete, as a sheet that can be corrected and uploaded. @throws as `list` does. */
  sheet(key: RecordKey, query: Pick<RecordRowQuery, 'status'>): Promise<RowSheet>;
}

const rowsAtOnce = 500;

export function createRecordRows({ records, rows }: RecordRowsDeps): RecordRows {
  async function* all(key: RecordKey, status: StoredRow['status']): AsyncGenerator<StoredRow> {
    for (let after: string | undefined; ; ) {
      const page = await rows.list(key, status, {
        order: 'asc',
        limit: rowsAtOnce,
        ...(after === undefined ? {} : { after }),
      });
      yield* page.items;
      after = page.items.at(-1)?.id;
      if (!page.hasMore || after === undefined) return;
    }
  }

  return {
    async list(key, query) {
      await records.get(key);
      const page = await rows.list(key, query.status ?? 'rejected', checkCursors(query, 'row'));
      return { ...page, items: page.items.map((row) => toItem(key.recordId, row)) };
    },
    async sheet(key, { status = 'rejected' }) {
      await records.get(key);
      return writeRowSheet(() => all(key, status));
    },
  };
}

function toItem(recordId: string, row: StoredRow): RecordRow {
  const { id, status, sheet, row: place, column, code, excerpt } = row;
  const { message } = rowCodes[code];
  return {
    object: 'RecordRow',
    row_id: id,
    record_id: recordId,
    status,
    sheet,
    row: place,
    column,
    code,
    message,
    excerpt,
  };
}

/** A CSV file in pieces. */
type RowSheet = AsyncIterable<string>;

const byteOrderMark = '\ufeff';
/** Columns that explain why a row is in the sheet. When the sheet is uploaded again, the reader ignores them. */
const reportColumns = ['qm:sheet', 'qm:row', 'qm:column', 'qm:code', 'qm:message'] as const;

/**
 * Writes rows as a CSV sheet (RFC 4180, UTF-8 with a byte order mark for spreadsheets). The columns are question,
 * answer, every other column of the rows, and the reason of the refusal. `rows` is iterated twice, first to collect the
 * columns.
 */
async function* writeRowSheet(rows: () => AsyncIterable<StoredRow>): RowSheet {
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

/** A row that did not become a chunk, to be stored. */
export interface NewRow extends ReportedRow {
  readonly id: string;
}

export interface StoredRow extends NewRow {
  readonly status: RowStatus;
}

/** Stores the rows of a record's sheet that did not become a chunk, for the generation of its report. */
export interface RecordRowRepository {
  list(key: RecordKey, status: RowStatus, query: ListQuery): Promise<Page<StoredRow>>;
}
