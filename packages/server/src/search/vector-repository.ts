import type { Claim, Job, Lease } from '../jobs/job.ts';
import type { VectorSpace } from './embedding/vector-index.ts';
import type { VectorPageRepository } from './vector-pages/vector-page-repository.ts';

/** The state of the vectors of a collection. */
export interface StoredVectorSpace extends VectorSpace {
  readonly model: string;
  /** Whether some chunks may have no vector. */
  readonly needsBackfill: boolean;
}

/** A chunk without a vector. */
export interface MissingVector {
  readonly seq: number;
  readonly id: string;
  /** The position within its record. */
  readonly ordinal: number;
  /** The text to embed: the question of a pair, otherwise the content. */
  readonly text: string;
  readonly updatedAt: number;
  /** How often embedding this text has failed in a row. */
  readonly failures: number;
}

/** A vector to store, or the reason why there is none. */
export interface NewVector {
  readonly seq: number;
  /** The time of the embedded version. If the chunk has changed since, the vector is discarded. */
  readonly updatedAt: number;
  readonly embedded: Float32Array | StoredFailure;
}

/** Why a chunk has no vector. */
export interface StoredFailure {
  readonly reason: string;
  /** The time of the next attempt; null when the model refuses the text, which is then not embedded again. */
  readonly retryAt: number | null;
  readonly failures: number;
}

/** A page of the chunks without a vector. `now` decides which failed texts are due again. */
export interface MissingPage {
  readonly after: MissingVector | null;
  readonly limit: number;
  readonly now: number;
}

/**
 * `other_model`: the collection uses another model now. `other_dimensions`: its vectors have another number of
 * dimensions.
 */
export type Saving =
  | { readonly kind: 'saved' | 'other_model' }
  | { readonly kind: 'other_dimensions'; readonly given: number; readonly stored: number };

/** Selects the unfinished generation of a record, or all visible chunks of the collection. */
export interface MissingOf {
  readonly collectionId: string;
  readonly record?: { readonly id: string; readonly generation: number };
}

/** A claimed collection. The job has the id of the collection. */
export interface BackfillJob extends Job {
  /** The last change of the collection at the claim. A successful backfill covers all changes up to it. */
  readonly wanted: number;
}

export interface BackfillClaim extends Lease {
  readonly model: string;
  /** Restricts the claim to collections whose backfill was not deferred. */
  readonly isFirst?: boolean;
}

/**
 * Stores the vectors of chunks. A collection has vectors of one model, which are deleted with their chunks. Late or
 * repeated writes are harmless: a vector is stored only for an existing, unchanged chunk.
 */
export interface VectorRepository {
  find(collectionId: string): Promise<StoredVectorSpace | undefined>;
  /**
   * Assigns the model to a collection without one. @returns its state afterwards; undefined when the collection is
   * gone.
   */
  adopt(collectionId: string, model: string): Promise<StoredVectorSpace | undefined>;
  /** Assigns the model to every collection without one, and marks all collections of this model for the backfill. */
  adoptAll(model: string): Promise<void>;
  /** Changes the model of the collection. All its chunks then wait to be embedded. */
  restart(collectionId: string, model: string): Promise<void>;
  /** Returns chunks without a vector, in a fixed order, after the last one of the previous page. */
  missing(of: MissingOf, page: MissingPage): Promise<MissingVector[]>;
  /** Counts the chunks of the record's generation that wait for a vector, those with a failed attempt included. */
  countMissing(of: Required<MissingOf>): Promise<number>;
  /** Counts those that have none because the model refuses their text. */
  countRefused(of: Required<MissingOf>): Promise<number>;
  /** Where the codes of vectors are stored. */
  readonly pages: VectorPageRepository;
  save(collectionId: string, model: string, vectors: readonly NewVector[]): Promise<Saving>;
  vectors(space: VectorSpace, seqs: readonly number[]): Promise<Map<number, Float32Array>>;
  /** Marks the collections of this model for the backfill that have failed texts whose next attempt is due. */
  requeueFailed(due: { model: string; now: number }): Promise<void>;
  /** Claims a collection of this model that needs the backfill and is due. */
  claimBackfill(claim: BackfillClaim): Promise<BackfillJob | undefined>;
  /** Extends the lease. @returns false when it is lost. */
  renewBackfill(held: Claim, leaseUntil: number): Promise<boolean>;
  /** Ends the lease. The backfill is either done, or requeued until `runAfter`. */
  endBackfill(held: BackfillJob, end: { done: true } | { done: false; runAfter: number }): Promise<void>;
}
