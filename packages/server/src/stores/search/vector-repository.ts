import type { ListQuery, VectorRole } from '@quartermaster/contract';
import type { Claim, Job, Lease } from '../../platform/jobs/job.ts';
import type { Page } from '../../platform/page.ts';
import type { ChunkFilter } from './chunk-index.ts';
import type { VectorSetKey, VectorSpace } from './embedding/vector-index.ts';
import type { Candidates, ComparedChunks } from './query/compare-candidates.ts';
import type { VectorBatch } from './vector-codes/open-vector-thread.ts';

export type { VectorSetKey, VectorSlot } from './embedding/vector-index.ts';

/** The state of a set of vectors. */
export interface StoredVectorSpace extends VectorSpace {
  readonly role: VectorRole;
  readonly model: string;
  /** Whether some chunks may have no vector. */
  readonly needsBackfill: boolean;
}

/** Candidates to compare with a query in a set of vectors. */
export interface VectorComparison extends Candidates {
  readonly space: VectorSpace;
  readonly filter: ChunkFilter | undefined;
}

/** A model to build vectors with. Its dimensions are null while they are unknown. */
export interface WantedModel {
  readonly model: string;
  readonly dimensions: number | null;
}

/** A chunk without a vector. */
export interface MissingVector {
  readonly seq: number;
  readonly id: string;
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
  /** The share of the paid tokens. */
  readonly tokens?: number;
  /** See `toTextKey`. Without it, the vector is never copied. */
  readonly textKey?: number;
}

/** Texts whose vectors may exist already. */
export interface KnownTexts {
  readonly projectId: string;
  /** The texts by their `toTextKey`. */
  readonly texts: ReadonlyMap<number, string>;
}

/** Why a chunk has no vector. */
export interface StoredFailure {
  readonly reason: string;
  /** The time of the next attempt; null when the model refuses the text, which is then not embedded again. */
  readonly retryAt: number | null;
  readonly failures: number;
}

/** A chunk whose text has failed, and what is known about it. */
export interface FailedChunk extends Pick<StoredFailure, 'retryAt' | 'failures'> {
  readonly id: string;
  readonly recordId: string | null;
  /** The beginning of the text. */
  readonly excerpt: string;
  readonly reason: string;
}

/**
 * A page of the chunks without a vector: those whose ids come after `after`. `now` decides which failed texts are due
 * again.
 */
export interface MissingPage {
  readonly after: string;
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

/** How many chunks of a record have a vector, and how many have none because the model refuses their text. */
export interface RecordVectors {
  readonly embedded: number;
  readonly refused: number;
  /** The tokens that were paid for the last attempts of these chunks. */
  readonly tokens: number;
  /** Why a chunk has no vector after an attempt; null when no attempt failed. */
  readonly reason: string | null;
}

/** A claimed set of vectors. */
export interface BackfillJob extends Job, VectorSetKey {
  readonly projectId: string;
  /** 0 until the first vector is stored. */
  readonly dimensions: number;
  /** A set that is being built is put into use when its walk ends and no chunk lacks its vector. */
  readonly role: VectorRole;
  /** The walk over the chunks continues after this id. */
  readonly reached: string;
}

/**
 * `confirm` begins a new walk and is restricted to collections that were not deferred since the start. `embed` continues
 * a walk. Projects take turns: it claims a collection of the first project after `afterProject` that needs the backfill.
 */
export type BackfillClaim = Lease & { readonly model: string } & (
    | { readonly kind: 'confirm' }
    | { readonly kind: 'embed'; readonly afterProject: string }
  );

export type BackfillEnd = {
  /**
   * The failure of the attempt; null when it had none. The failure of an earlier attempt is then forgotten, unless a text
   * is still without its vector because it failed. Undefined: nothing was attempted.
   */
  readonly failure?: EmbeddingFailure | null;
} /** Every chunk that existed when the walk began has been visited. */ & (
  | { readonly kind: 'done' }
  /** The walk has come to `reached` and continues after the other collections of the project. */
  | { readonly kind: 'continued'; readonly reached: string; readonly runAfter: number }
  | { readonly kind: 'deferred'; readonly runAfter: number }
);

/** Why an attempt to embed chunks failed. */
export interface EmbeddingFailure {
  readonly reason: string;
  readonly at: number;
  /** The time of the next attempt; null when there is none. */
  readonly retryAt: number | null;
}

/**
 * Stores the vectors of chunks, which are deleted with their chunks. A collection has a live set of vectors, and at most one
 * other, which is being built or kept. Each set has one model. Late or repeated writes are harmless: a vector is stored only
 * for an existing, unchanged chunk.
 */
export interface VectorRepository {
  /** Returns the live set. */
  find(collectionId: string): Promise<StoredVectorSpace | undefined>;
  /**
   * Assigns the model to a collection without one. @returns its state afterwards; undefined when the collection is
   * gone.
   */
  adopt(collectionId: string, model: string): Promise<StoredVectorSpace | undefined>;
  /** Assigns the model to every collection without one. */
  adoptAll(model: string): Promise<void>;
  /** Ends the leases of the model's sets, which processes that no longer run have left. */
  endLeases(model: string): Promise<void>;
  /** Marks all collections of the model for the backfill. */
  requeueAll(model: string): Promise<void>;
  /**
   * Begins to build vectors of the model beside the live ones. It continues with a kept set of the model, unless the live
   * set has the same model. If a set of another model is being built and the live one has this model, the building ends. A set
   * whose dimensions are not these is not continued. Null means that the dimensions are unknown.
   */
  prepare(collectionId: string, model: string, dimensions?: number | null): Promise<void>;
  /** Begins to build vectors of the model for each collection whose vectors of the former model are all that it has. */
  replaceAll(former: string, model: string): Promise<void>;
  /** Returns visible chunks without a vector in the order of their ids. */
  missing(of: VectorSetKey, page: MissingPage): Promise<MissingVector[]>;
  /**
   * Returns vectors of equal texts that other chunks of the project have, in sets that are in use or being built. It looks at a
   * few chunks of each text only.
   */
  copies(known: KnownTexts): Promise<Map<string, Float32Array>>;
  /** Counts the live vectors of the visible chunks of records. Records without vectors and failures are omitted. */
  countOfRecords(
    of: VectorSetKey & { readonly model: string },
    recordIds: readonly string[],
  ): Promise<ReadonlyMap<string, RecordVectors>>;
  /**
   * Lists the visible chunks of a set whose text has failed, in the order of their failures.
   * @returns undefined when a cursor is not in the list
   */
  listFailures(of: VectorSetKey, query: ListQuery): Promise<Page<FailedChunk> | undefined>;
  /** Makes the next attempt of all failed texts of the sets of a collection due now, refused ones included. */
  retryFailures(collectionId: string, now: number): Promise<void>;
  /** Reads the vectors of the changes after `after` up to the last one of the space, in the order of the changes. */
  readAfter(space: VectorSpace, after: number): AsyncIterable<VectorBatch>;
  /** Stores vectors, and adds the tokens that were paid for them to those of the set. */
  save(to: VectorSetKey, model: string, vectors: readonly NewVector[], tokens?: number): Promise<Saving>;
  /** Compares vectors of chunks with a query. Chunks that are not visible or do not meet the filter are omitted. */
  compare(comparison: VectorComparison): Promise<ComparedChunks>;
  /** Marks the sets of this model for the backfill that have failed texts whose next attempt is due. */
  requeueFailed(due: { model: string; now: number }): Promise<void>;
  /** Counts the collections of the model that need the backfill. */
  countBacklog(model: string): Promise<number>;
  /** Counts the collections whose vectors are of the model, or are being built with it, and those of them that need the backfill. */
  countCollections(model: string): Promise<{ readonly all: number; readonly waiting: number }>;
  /** Claims a collection of the model that needs the backfill and is due. */
  claimBackfill(claim: BackfillClaim): Promise<BackfillJob | undefined>;
  /** Extends the lease. @returns false when it is lost. */
  renewBackfill(held: Claim, leaseUntil: number): Promise<boolean>;
  /** Ends the lease. @returns `swapped` when the set was being built, is complete, and is in use now */
  endBackfill(held: BackfillJob, end: BackfillEnd): Promise<'swapped' | 'ended'>;
}
