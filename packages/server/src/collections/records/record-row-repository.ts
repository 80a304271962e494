import type { ListQuery } from '@quartermaster/contract';
import type { RowCode, RowFields, RowStatus } from '../../extraction/extraction.ts';
import type { Page } from '../../kernel/page.ts';
import type { RecordKey } from './record-repository.ts';

/** A row that became no chunk, to be stored. */
export interface NewRow {
  readonly id: string;
  readonly sheet: string | null;
  readonly row: number;
  readonly column: string | null;
  readonly code: RowCode;
  readonly excerpt: string;
  readonly fields: RowFields;
}

export interface StoredRow extends NewRow {
  readonly status: RowStatus;
}

/** Rows of a record's sheet that became no chunk, of the making that its report is about. */
export interface RecordRowRepository {
  /** @returns undefined when the cursor is none of them. */
  list(key: RecordKey, status: RowStatus, query: ListQuery): Promise<Page<StoredRow> | undefined>;
}
