import type { RecordFailure, RecordStage } from '@quartermaster/contract';
import type { RowCode, RowFields } from '../extraction/extraction.ts';
import type { NewChunk } from './chunk-repository.ts';
import type { RecordSource } from './record-repository.ts';

/**
 * `making`: a record in status `creating`. `sweeping`: what stays behind, which nobody sees any more: a deleted
 * record, or the chunks of an earlier or unfinished making.
 */
export type Lane = 'making' | 'sweeping';

/** Records of at most this many bytes count as small. */
export const smallRecordBytes = 64 * 1024;

export interface Claim {
  readonly lane: Lane;
  /** Names this one claim; never used twice. Every later call must show it. */
  readonly token: string;
  readonly now: number;
  readonly leaseUntil: number;
  /** Only a small record of a project that has no record in work. Absent: any record. */
  readonly reserved?: boolean;
}

/** A record that somebody works on. */
export interface RecordJob extends RecordSource {
  readonly id: string;
  readonly projectId: string;
  readonly collectionId: string;
  readonly token: string;
  readonly attempt: number;
  /** Latest time of its first claim. */
  readonly deadlineAt: number;
  /** Milliseconds that earlier tries have worked on it. */
  readonly workedMs: number;
  /** The generation that is visible now; the job writes the next one. */
  readonly generation: number;
  /** An earlier try has read the source and written all of the next generation; only what follows is left to do. */
  readonly made: MadeRecord | null;
}

export interface WorkProgress {
  readonly stage: RecordStage;
  readonly percent: number;
  readonly leaseUntil: number;
  /** Milliseconds that all tries together have worked on it. */
  readonly workedMs: number;
}

/** Which claim: a job, or the part of it that names the claim. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

export type Publication =
  | { readonly kind: 'published'; readonly sweep: boolean }
  | { readonly kind: 'full' }
  /** Another record has become visible since, and has pairs that this one should not have: make it again. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'lost' };

export interface MadeRecord {
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

/**
 * The work on records. Whoever holds a claim may write until the record is claimed again, remade or deleted: each call
 * proves the claim in the same transaction, so what comes too late changes nothing.
 */
export interface RecordJobRepository {
  /**
   * Claims a waiting record, or one whose lease has expired. Projects take turns across all processes; within
   * a project small records come before large ones that were queued at the same time. Only one caller gets a record.
   */
  claim(claim: Claim): Promise<RecordJob | undefined>;
  /** Ends every lease on records being made: only for a process that knows it is the only one. */
  endLeases(): Promise<void>;
  /** Keeps the lease and notes how far the work is. @returns false when the claim is lost. */
  report(held: Held, progress: WorkProgress): Promise<boolean>;
  /** Writes chunks of the next generation, in order, with their words; nobody sees them yet. @returns false when the claim is lost. */
  addChunks(job: RecordJob, chunks: readonly NewChunk[]): Promise<boolean>;
  /** Writes rows of the next generation that became no chunk. @returns false when the claim is lost. */
  addRows(job: RecordJob, rows: readonly NewRow[]): Promise<boolean>;
  /** All of the next generation is written: a later try goes on from here. @returns false when the claim is lost. */
  keepMade(job: RecordJob, made: MadeRecord): Promise<boolean>;
  /** Which of the keys a visible chunk of another record of the collection has. */
  findTaken(
    of: { readonly collectionId: string; readonly id: string | null },
    rowKeys: readonly string[],
  ): Promise<Set<string>>;
  /** Chunks the collection may still take when those of this record are replaced. */
  room(job: RecordJob): Promise<number>;
  /**
   * The switch: from here on the new chunks are the visible ones and the record is done. Where the record replaces
   * duplicates, the pairs of other records with the same keys are gone from here on, too.
   */
  publish(job: RecordJob, made: MadeRecord): Promise<Publication>;
  /** The record ends in `error`; the chunks it had before stay. @returns false when the claim is lost. */
  fail(job: RecordJob, failure: RecordFailure, more: { report: object | null; now: number }): Promise<boolean>;
  /** Gives the record back, to be taken up again not before `runAfter`. `attempt` is what counts as tried. */
  giveBack(held: Held, again: { runAfter: number; attempt: number; workedMs?: number }): Promise<void>;
  /**
   * Removes up to `limit` chunks of the record that are not visible and keeps the lease. When none is left a record that
   * is being deleted goes too, and one that is not being made is given back.
   */
  sweep(held: Held, part: { limit: number; leaseUntil: number }): Promise<'more' | 'done' | 'lost'>;
}
