import type {
  OnDuplicate,
  RecordFailure,
  RecordListQuery,
  RecordStatus,
  RecordType,
  SheetColumns,
  TextSplitter,
} from '@quartermaster/contract';
import type { Page } from '../../../platform/page.ts';

/** How long a deletion that can be undone keeps the record, in milliseconds. */
export const restorableMs = 24 * 60 * 60_000;

/** The source of a record. */
export interface RecordSource {
  readonly type: RecordType;
  readonly title: string;
  /** The wire format: the text, or the JSON text that describes the file or page. */
  readonly content: string;
  readonly fileId: string | null;
  readonly url: string | null;
  /** Null for the default splitter. */
  readonly textSplitter: TextSplitter | null;
  /** The policy for the pairs of a sheet. Default: `keep`. */
  readonly onDuplicate?: OnDuplicate;
  /** The columns of a sheet that the request names. Default: all are found by their names. */
  readonly columns?: SheetColumns;
}

export interface NewRecord extends RecordSource {
  readonly id: string;
  readonly projectId: string;
  /** The key of the request. Default: unknown. */
  readonly keyId?: string | null;
  readonly collectionId: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of its file; encrypted, and erased when the work ends. Default: none. */
  readonly encryptedPassword?: string | null;
  readonly createdAt: number;
  /** The time at which the work is abandoned, in milliseconds. */
  readonly deadlineAt: number;
}

/** A stored record. Times are in milliseconds. */
export interface StoredRecord
  extends RecordSource,
    Pick<NewRecord, 'id' | 'projectId' | 'collectionId' | 'metadata' | 'createdAt'> {
  readonly status: RecordStatus;
  readonly stage: string;
  readonly percent: number;
  readonly attempt: number;
  /** The number of visible chunks. */
  readonly numChunks: number;
  readonly error: RecordFailure | null;
  readonly report: Readonly<Record<string, unknown>> | null;
  readonly updatedAt: number;
}

/** The title of a record, and the file or URL that it was created from. */
export interface NamedRecord {
  readonly title: string;
  readonly fileId: string | null;
  /** Null for a record that was not created from a file. */
  readonly fileName: string | null;
  readonly url: string | null;
}

/** Identifies a record. All three ids must match. */
export interface RecordKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly recordId: string;
}

export interface RecordChange {
  readonly metadata?: Readonly<Record<string, string>>;
  /** Creates the chunks again. A worker that holds the record loses its lease. */
  readonly remake?: {
    readonly source: RecordSource;
    /** The source from which `source` was derived. If it has changed since, nothing is changed. */
    readonly from?: RecordSource;
    /** Replaces the stored one. Default: none. */
    readonly encryptedPassword?: string | null;
    /** The key of the request. Default: unknown. */
    readonly keyId?: string | null;
    readonly deadlineAt: number;
  };
  readonly updatedAt: number;
}

/** Stores records. A record that is being deleted is not visible here, except in a list of status `deleting`. */
export interface RecordRepository {
  /** @returns false when the collection no longer exists */
  add(record: NewRecord): Promise<boolean>;
  find(key: RecordKey): Promise<StoredRecord | undefined>;
  /** Names records with one query. Records that do not exist are omitted. */
  name(projectId: string, recordIds: readonly string[]): Promise<ReadonlyMap<string, NamedRecord>>;
  list(projectId: string, collectionId: string, query: RecordListQuery): Promise<Page<StoredRecord>>;
  /** @returns false when the record does not exist, or its source has changed */
  change(key: RecordKey, change: RecordChange): Promise<boolean>;
  /** Whether at least `most` records of the project are waiting or being processed. Reads at most `most` index entries. */
  areWaiting(projectId: string, most: number): Promise<boolean>;
  /** Returns which of two limits forbids a further record in the collection. Reads each index up to its limit. */
  findReachedLimit(
    of: { readonly projectId: string; readonly collectionId: string },
    most: { readonly records: number; readonly waitingRecords: number },
  ): Promise<'records' | 'waitingRecords' | undefined>;
  /** Counts the records of all projects by status. */
  countByStatus(): Promise<ReadonlyMap<RecordStatus, number>>;
  /** Makes a record that waits for another attempt claimable immediately. */
  retryNow(key: RecordKey, now: number): Promise<void>;
  /**
   * Ends the processing in `error` and keeps the previous chunks. @returns false when the record was not being
   * processed.
   */
  cancel(key: RecordKey, end: { readonly failure: RecordFailure; readonly now: number }): Promise<boolean>;
  /**
   * Hides the record and its chunks immediately. They are removed at `until`; by default, as soon as possible. A record that
   * is removed later can be restored, and is listed with status `deleting`. @returns false when it does not exist.
   */
  markDeleting(key: RecordKey, now: number, until?: number): Promise<boolean>;
  /**
   * Shows a deleted record and its chunks again. One that was being processed waits to be processed again.
   * @returns false when there is none that can be restored
   */
  restore(key: RecordKey, restored: { readonly now: number; readonly deadlineAt: number }): Promise<boolean>;
}
