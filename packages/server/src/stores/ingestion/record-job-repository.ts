import type { Chunking, RecordFailure, RecordStage } from '@quartermaster/contract';
import type { Claim, Job, Lease } from '../../platform/jobs/job.ts';
import type { NewChunk } from '../collections/chunks/chunk-repository.ts';
import type { RecordSource } from '../collections/records/record-repository.ts';
import type { NewRow } from '../collections/records/record-rows.ts';

/**
 * `ingest` creates the chunks of a record in status `creating`. `sweep` removes rows that are no longer visible: a
 * deleted record, or the chunks of a generation that was replaced or never finished.
 */
export type RecordJobKind = 'ingest' | 'sweep';

/** Records of at most this many bytes count as small. */
export const smallRecordBytes = 64 * 1024;

export interface RecordClaim extends Lease {
  readonly kind: RecordJobKind;
  /** Restricts the claim to small records of projects, or of keys, that have no record in progress. Default: any record. */
  readonly reserved?: 'project' | 'key';
}

/** A claimed record. */
export interface RecordJob extends Job, RecordSource {
  readonly projectId: string;
  /** The key that queued it; empty if unknown. */
  readonly keyId: string;
  readonly collectionId: string;
  /** The JSON of its metadata at the time of the claim. */
  readonly metadata: string;
  /** The latest time of its first claim. */
  readonly deadlineAt: number;
  /** Of its file; null without one. */
  readonly encryptedPassword: string | null;
  /** Milliseconds that earlier attempts have spent on it. */
  readonly workedMs: number;
  /** The generation that is visible now. The job writes the next one. */
  readonly generation: number;
  /** The settings of its collection at the time of the claim. */
  readonly chunking: Chunking;
  readonly chunkingVersion: number;
  /** The maximum number of visible chunks of its collection. */
  readonly capacity: number;
  /** Whether chunks or rows of a generation that is not visible were there at the time of the claim. */
  readonly hasLeftovers: boolean;
  /** Whether its chunks are replaced for new settings of its collection. */
  readonly isRechunked: boolean;
  /**
   * Set when an earlier attempt has read the source and written all of the next generation. The work continues after
   * that point.
   */
  readonly checkpoint: IngestedRecord | null;
}

export interface WorkProgress {
  readonly stage: RecordStage;
  readonly percent: number;
  readonly leaseUntil: number;
  /** Milliseconds that all attempts together have spent on it. */
  readonly workedMs: number;
}

export type Publication =
  | { readonly kind: 'published'; readonly sweep: boolean }
  /** The record keeps its chunks: the new ones are equal, or a request has changed one in the meantime. */
  | { readonly kind: 'kept'; readonly reason: 'unchanged' | 'chunks_changed' }
  | { readonly kind: 'full' }
  /** Another record with the same pairs has become visible since. The record must be ingested again. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'lost' };

export interface IngestedRecord {
  readonly status: 'ready' | 'partial';
  readonly numChunks: number;
  readonly report: Readonly<Record<string, unknown>>;
  /** The time at which the record becomes visible. */
  readonly now: number;
  /**
   * The start of the work. Records published later were not checked for duplicates. Used when `onDuplicate` is `skip`.
   */
  readonly since?: number;
  /** The version of the settings of the collection that the chunks follow. Default: 0. */
  readonly chunkingVersion?: number;
}

/**
 * Stores the jobs of records. The holder of a lease may write until the record is claimed again, replaced or deleted.
 * Each call checks the lease in its transaction, so a late call changes nothing.
 */
export interface RecordJobRepository {
  /**
   * Claims a waiting record, or one whose lease has expired. Projects take turns across all processes, and so do the keys of a
   * project. Small records of a key come before large ones that were queued at the same time. Only one caller gets a record.
   */
  claim(claim: RecordClaim): Promise<RecordJob | undefined>;
  /** Ends every lease of records in status `creating`. Only a process that knows it is the only one may call this. */
  endLeases(): Promise<void>;
  /** Extends the lease and stores the progress. @returns false when the lease is lost. */
  renew(held: Claim, progress: WorkProgress): Promise<boolean>;
  /**
   * Writes chunks of the next generation, in order, with their terms. Queries return them after the publication.
   * Extends the lease to `leaseUntil`, because a renewal skips the row that this transaction locks.
   * @returns false when the lease is lost
   * @throws StoredTooMuch, as `addRows` and `publish` do, when the project would exceed its quota; nothing is stored then
   */
  addChunks(job: RecordJob, chunks: readonly NewChunk[], leaseUntil?: number): Promise<boolean>;
  /**
   * Writes rows of the next generation that did not become a chunk, and extends the lease to `leaseUntil`.
   * @returns false when the lease is lost
   */
  addRows(job: RecordJob, rows: readonly NewRow[], leaseUntil?: number): Promise<boolean>;
  /**
   * Marks the next generation as completely written. A later attempt continues from here. @returns false when the lease
   * is lost.
   */
  saveCheckpoint(job: RecordJob, ingested: IngestedRecord): Promise<boolean>;
  /** Returns the keys that a visible chunk of another record of the collection already has. */
  findExistingKeys(
    of: { readonly collectionId: string; readonly id: string | null },
    rowKeys: readonly string[],
  ): Promise<Set<string>>;
  /** Returns how many more chunks the collection can hold after those of this record are replaced. */
  remainingCapacity(job: RecordJob): Promise<number>;
  /**
   * Makes the new chunks visible and completes the record. If the record replaces duplicates, this also removes the
   * pairs of other records with the same keys. If the collection has a model, the chunks then wait for their vectors.
   * @param unwritten the chunks of a small record, which are written in the same transaction
   */
  publish(job: RecordJob, ingested: IngestedRecord, unwritten?: readonly NewChunk[]): Promise<Publication>;
  /**
   * Ends the record in `error` and keeps its previous chunks. A record whose chunks were being replaced for new settings
   * returns to its status instead. @returns false when the lease is lost.
   */
  fail(job: RecordJob, failure: RecordFailure, more: { report: object | null; now: number }): Promise<boolean>;
  /**
   * Ends the lease. The record can be claimed again from `runAfter` on, with `attempt` as the number of attempts so
   * far.
   */
  requeue(held: Claim, again: { runAfter: number; attempt: number; workedMs?: number }): Promise<void>;
  /**
   * Removes up to `limit` invisible chunks of the record and extends the lease. When none is left, a record that is
   * being deleted is removed too. The lease then ends unless the record is being ingested.
   */
  sweep(held: Claim, part: { limit: number; leaseUntil: number }): Promise<'more' | 'done' | 'lost'>;
}
