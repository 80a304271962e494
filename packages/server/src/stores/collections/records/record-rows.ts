import type { RecordRow, RecordRowQuery } from '@quartermaster/contract';
import { checkCursors } from '../../../platform/list-cursors.ts';
import type { Page } from '../../../platform/page.ts';
import { rowCodes } from '../../extraction/extraction.ts';
import type { RecordKey } from './record-repository.ts';
import type { RecordRowRepository, StoredRow } from './record-row-repository.ts';
import type { Records } from './records.ts';
import { type RowSheet, writeRowSheet } from './row-sheet.ts';

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
