/** Codes to add, in the order of their change. */
export interface CodePage {
  readonly seqs: Float64Array;
  readonly codes: Uint8Array;
}

/** The current vectors of one collection. */
export interface VectorSpace {
  readonly collectionId: string;
  readonly dimensions: number;
  /** Vectors up to this change belong to another model. */
  readonly firstChange: number;
  readonly lastChange: number;
}

/** Reads the codes of the changes after `after` up to `upTo`, in pages. */
export type LoadCodes = (space: VectorSpace, after: number) => AsyncIterable<CodePage>;

/** Finds candidates among the vectors of a collection. */
export interface VectorIndex {
  /**
   * Returns the seqs of the nearest vectors, best first. The order is approximate, because only codes are compared.
   * Some chunks may be deleted or not visible.
   * @returns undefined when the collection exceeds the memory limit
   */
  nearest(space: VectorSpace, query: Float32Array, count: number): Promise<readonly number[] | undefined>;
  close(): Promise<void>;
}
