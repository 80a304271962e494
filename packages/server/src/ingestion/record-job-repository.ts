import type { RecordFailure, RecordStage } from '@quartermaster/contract';
import type { NewChunk } from '../collections/chunks/chunk-repository.ts';
import type { RecordSource } from '../collections/records/record-repository.ts';
import type { NewRow } from '../collections/records/record-row-repository.ts';
import type { Held, Job, Lease } from '../jobs/job.ts';

/**
 * `ingest`: create the chunks of a record in status `creating`. `sweep`: remove what nobody sees any more: a deleted
 * record, or the chunks of a generation that was replaced or never finished.
 */
export type RecordJobKind = 'ingest' | 'sweep';

/** Records of at most this many bytes count as small. */
export const smallRecordBytes = 64 * 1024;

export interface RecordClaim extends Lease {
  readonly kind: RecordJobKind;
  /** Only a small record of a project that has no record in progress. Absent: any record. */
  readonly reserved?: boolean;
}

/** A claimed record. */
export interface RecordJob extends Job, RecordSource {
  readonly projectId: string;
  readonly collectionId: string;
  /** Latest time of its first claim. */
  readonly deadlineAt: number;
  /** Milliseconds that earlier attempts have worked on it. */
  readonly workedMs: number;
  /** The generation that is visible now; the job writes the next one. */
  readonly generation: number;
  /** An earlier attempt has read the source and written all of the next generation: the work continues after that. */
  readonly checkpoint: IngestedRecord | null;
}

export interface WorkProgress {
  readonly stage: RecordStage;
  readonly percent: number;
  readonly leaseUntil: number;
  /** Milliseconds that all attempts together have worked on it. */
  readonly workedMs: number;
}

export type Publication =
  | { readonly kind: 'published'; readonly sweep: boolean }
  | { readonly kind: 'full' }
  /** Another record has become visible since, and has pairs that this one should not have: ingest it again. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'lost' };

export interface IngestedRecord {
  readonly status: 'ready' | 'partial';
  readonly numChunks: number;
  readonly report: Readonly<Record<string, unknown>>;
  /** When it became visible. */
  readonly now: number;
  /** When the work began: whatever was published since was not looked at. Matters where `onDuplicate` is `skip`. */
  readonly since?: number;
  /** Some chunks have no vector: the collection is behind from here on, if it has vectors at all. */
  readonly lacksVectors?: boolean;
}

/**
 * The jobs of records. The holder of a lease may write until the record is claimed again, replaced or deleted: each call
 * proves the lease in the same transaction, so a late call changes nothing.
 */
export interface RecordJobRepository {
  /**
   * Claims a waiting record, or one whose lease has expired. Projects take turns across all processes; within
   * a project small records come before large ones that were queued at the same time. Only one caller gets a record.
   */
  claim(claim: RecordClaim): Promise<RecordJob | undefined>;
  /** Ends every lease of records in status `creating`: only for a process that knows it is the only one. */
  endLeases(): Promise<void>;
  /** Prolongs the lease and stores the progress. @returns false when the lease is lost. */
  renew(held: Held, progress: WorkProgress): Promise<boolean>;
  /**
   * Writes chunks of the next generation, in order, with their words. Queries return them after the publication.
   * @returns false when the lease is lost
   */
  addChunks(job: RecordJob, chunks: readonly NewChunk[]): Promise<boolean>;
  /** Writes rows of the next generation that became no chunk. @returns false when the lease is lost. */
  addRows(job: RecordJob, rows: readonly NewRow[]): Promise<boolean>;
  /** All of the next generation is written: a later attempt continues from here. @returns false when the lease is lost. */
  saveCheckpoint(job: RecordJob, ingested: IngestedRecord): Promise<boolean>;
  /** Which of the keys a visible chunk of another record of the collection has. */
  findExistingKeys(
    of: { readonly collectionId: string; readonly id: string | null },
    rowKeys: readonly string[],
  ): Promise<Set<string>>;
  /** Chunks the collection may still take when those of this record are replaced. */
  remainingCapacity(job: RecordJob): Promise<number>;
  /**
   * The switch: from here on the new chunks are the visible ones and the record is done. Where the record replaces
   * duplicates, the pairs of other records with the same keys are gone from here on, too.
   */
  publish(job: RecordJob, ingested: IngestedRecord): Promise<Publication>;
  /** The record ends in `error`; the chunks it had before stay. @returns false when the lease is lost. */
  fail(job: RecordJob, failure: RecordFailure, more: { report: object | null; now: number }): Promise<boolean>;
  /** Ends the lease. The record can be claimed again from `runAfter` on; `attempt` attempts then count. */
  requeue(held: Held, again: { runAfter: number; attempt: number; workedMs?: number }): Promise<void>;
  /**
   * Removes up to `limit` chunks of the record that are not visible and prolongs the lease. When none is left, a record
   * that is being deleted is removed too, and the lease ends unless the record is being ingested.
   */
  sweep(held: Held, part: { limit: number; leaseUntil: number }): Promise<'more' | 'done' | 'lost'>;
}
