/** A collection has at most two sets of vectors. The slot tells which table has the vectors of a set. */
export type VectorSlot = 0 | 1;

/** Identifies a set of vectors. */
export interface VectorSetKey {
  readonly collectionId: string;
  readonly slot: VectorSlot;
}

/** The current vectors of one set. */
export interface VectorSpace extends VectorSetKey {
  readonly dimensions: number;
  /** Vectors up to this change belong to another model. No two sets of a collection have the same first change. */
  readonly firstChange: number;
  readonly lastChange: number;
  readonly count: number;
}

/** The nearest vectors of a question, and others that may be among them. */
export interface NearVectors {
  /** Distinct, in the order of their bounds, the greatest first. */
  readonly seqs: Float64Array;
  /** The cosine of each vector is at most its bound. */
  readonly bounds: Float64Array;
  /** All other vectors have lower cosines. −∞ when there are no others. */
  readonly rest: number;
}

/** Finds candidates among the vectors of a collection. */
export interface VectorIndex {
  /**
   * Reads the vectors of a space that are not in memory. It goes on when the caller has waited for a few seconds.
   * @returns whether all are in memory; false also when there is no room for them
   */
  load(space: VectorSpace): Promise<boolean>;
  /**
   * Returns the `count` nearest vectors, and all others that may be among them, because only codes are compared. The bounds
   * are those of `vector-codes/vector-codes.ts`. Some vectors may be deleted, replaced or not visible.
   * @returns undefined when the vectors are not in memory
   */
  nearest(space: VectorSpace, query: Float32Array, count: number): Promise<NearVectors | undefined>;
  close(): Promise<void>;
}
