import type {
  ListQuery,
  OnDuplicate,
  RecordFailure,
  RecordStatus,
  RecordType,
  TextSplitter,
} from '@quartermaster/contract';
import type { Page } from '../../kernel/page.ts';

/** What a record is made from. */
export interface RecordSource {
  readonly type: RecordType;
  readonly title: string;
  /** As on the wire: the text, or the JSON text that describes file or page. */
  readonly content: string;
  readonly fileId: string | null;
  readonly url: string | null;
  /** null: the default. */
  readonly textSplitter: TextSplitter | null;
  /** Of the pairs of a sheet; absent: the default, `keep`. */
  readonly onDuplicate?: OnDuplicate;
}

export interface NewRecord extends RecordSource {
  readonly id: string;
  readonly projectId: string;
  readonly collectionId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** When the work on it is given up, in milliseconds. */
  readonly deadlineAt: number;
}

/** A record as it is stored. Times in milliseconds. */
export interface StoredRecord extends RecordSource {
  readonly id: string;
  readonly projectId: string;
  readonly collectionId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: RecordStatus;
  readonly stage: string;
  readonly percent: number;
  readonly attempt: number;
  /** Visible chunks. */
  readonly numChunks: number;
  readonly error: RecordFailure | null;
  readonly report: Readonly<Record<string, unknown>> | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Which record: all three must fit. */
export interface RecordKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly recordId: string;
}

export interface RecordChange {
  readonly metadata?: Readonly<Record<string, string>>;
  /** Makes the chunks anew; whoever works on the record loses it. */
  readonly remake?: {
    readonly source: RecordSource;
    /** What the record was made from when `source` was thought out; when that is another by now, nothing is changed. */
    readonly from?: RecordSource;
    readonly deadlineAt: number;
  };
  readonly updatedAt: number;
}

/** Records as their callers see them. One that is being deleted is not there. */
export interface RecordRepository {
  /** @returns false when the collection is gone. */
  add(record: NewRecord): Promise<boolean>;
  find(key: RecordKey): Promise<StoredRecord | undefined>;
  /** @returns undefined when the cursor is no record of the collection. */
  list(projectId: string, collectionId: string, query: ListQuery): Promise<Page<StoredRecord> | undefined>;
  /** @returns false when there is no such record, or its source is not what the change goes out from. */
  change(key: RecordKey, change: RecordChange): Promise<boolean>;
  /** Whether at least `most` records of the project are waiting or being processed. Reads at most `most` index entries. */
  areWaiting(projectId: string, most: number): Promise<boolean>;
  /** How many there are of each status, of all projects. */
  countByStatus(): Promise<ReadonlyMap<RecordStatus, number>>;
  /** A record that waits for another try is taken up at once. */
  hurry(key: RecordKey, now: number): Promise<void>;
  /** Ends the making: the record is in `error` and keeps the chunks it had. @returns false when it was not being made. */
  cancel(key: RecordKey, end: { readonly failure: RecordFailure; readonly now: number }): Promise<boolean>;
  /** From here on the record and its chunks are gone for everybody. @returns false when it was not there. */
  markDeleting(key: RecordKey, now: number): Promise<boolean>;
}
