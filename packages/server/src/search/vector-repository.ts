import type { Held, Job, Lease } from '../jobs/job.ts';
import type { VectorSpace } from './embedding/vector-index.ts';

/** What is known of the vectors of a collection. */
export interface StoredVectorSpace extends VectorSpace {
  readonly model: string;
  /** A chunk may have no vector. */
  readonly needsBackfill: boolean;
}

/** A chunk without a vector. */
export interface MissingVector {
  readonly seq: number;
  readonly id: string;
  /** Place within its record. */
  readonly ordinal: number;
  /** What is to be embedded: the question of a pair, else the content. */
  readonly text: string;
  readonly updatedAt: number;
}

/** null: the model refuses this text; it is not asked again. */
export interface NewVector {
  readonly seq: number;
  /** Of the chunk that was embedded: when it has changed since, the vector is not kept. */
  readonly updatedAt: number;
  readonly vector: Float32Array | null;
}

export interface CodeRow {
  readonly seq: number;
  readonly change: number;
  readonly code: Uint8Array;
}

/** `other_model`: the collection has another model by now. `other_dimensions`: the number that its vectors have. */
export type Saving =
  | { readonly kind: 'saved' | 'other_model' }
  | { readonly kind: 'other_dimensions'; readonly given: number; readonly stored: number };

/** Whose chunks: the unfinished generation of a record, or all that are visible in the collection. */
export interface MissingOf {
  readonly collectionId: string;
  readonly record?: { readonly id: string; readonly generation: number };
}

/** A claimed collection; its id is that of the collection. */
export interface BackfillJob extends Job {
  /** Changes of the collection that were counted at the claim: all of them are done when it ends well. */
  readonly wanted: number;
}

export interface BackfillClaim extends Lease {
  readonly model: string;
  /** Only a collection that was not deferred since it needs the backfill. */
  readonly isFirst?: boolean;
}

/**
 * Vectors of chunks. A collection has those of one model; its vectors go with its chunks. What is written late or twice
 * does no harm: a vector is kept only for a chunk that is there and is what was embedded.
 */
export interface VectorRepository {
  find(collectionId: string): Promise<StoredVectorSpace | undefined>;
  /** Gives the collection this model when it has none. @returns what it has then; undefined when it is gone. */
  adopt(collectionId: string, model: string): Promise<StoredVectorSpace | undefined>;
  /** Gives every collection without one this model, and marks all collections of this model for the backfill. */
  adoptAll(model: string): Promise<void>;
  /** From here on the collection has this model, and all its chunks wait to be embedded. */
  restart(collectionId: string, model: string): Promise<void>;
  /** Chunks without a vector, in a fixed order, after the last one of the page before. */
  missing(of: MissingOf, page: { after: MissingVector | null; limit: number }): Promise<MissingVector[]>;
  /** How many of the record's chunks of this generation have no vector. */
  countMissing(of: Required<MissingOf>): Promise<number>;
  /** How many of them have none because the model refuses their text. */
  countRefused(of: Required<MissingOf>): Promise<number>;
  save(collectionId: string, model: string, vectors: readonly NewVector[]): Promise<Saving>;
  /** Codes of the changes after that place, in order. */
  codes(space: VectorSpace, after: { change: number; seq: number }, limit: number): Promise<CodeRow[]>;
  vectors(space: VectorSpace, seqs: readonly number[]): Promise<Map<number, Float32Array>>;
  /** Claims a collection of this model that needs the backfill and is due. */
  claimBackfill(claim: BackfillClaim): Promise<BackfillJob | undefined>;
  /** Prolongs the lease. @returns false when it is lost. */
  renewBackfill(held: Held, leaseUntil: number): Promise<boolean>;
  /** Ends the lease: the backfill is done, or requeued until that time. */
  endBackfill(held: BackfillJob, end: { done: true } | { done: false; runAfter: number }): Promise<void>;
}
