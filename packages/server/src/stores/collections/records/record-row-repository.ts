import type { ListQuery } from '@quartermaster/contract';
import type { Page } from '../../../platform/page.ts';
import type { ReportedRow, RowStatus } from '../../extraction/extraction.ts';
import type { RecordKey } from './record-repository.ts';

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
