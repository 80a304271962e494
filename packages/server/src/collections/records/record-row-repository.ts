import type { ListQuery } from '@quartermaster/contract';
import type { RowStatus } from '../../extraction/extraction.ts';
import type { NewRow } from '../../ingestion/record-job-repository.ts';
import type { Page } from '../page.ts';
import type { RecordKey } from './record-repository.ts';

export interface StoredRow extends NewRow {
  readonly status: RowStatus;
}

/** Rows of a record's sheet that became no chunk, of the making that its report is about. */
export interface RecordRowRepository {
  /** @returns undefined when the cursor is none of them. */
  list(key: RecordKey, status: RowStatus, query: ListQuery): Promise<Page<StoredRow> | undefined>;
}
