/** Codes to be added, in the order of their change. */
export interface CodePage {
  readonly seqs: Float64Array;
  readonly codes: Uint8Array;
}

/** The vectors of one collection as they are now. */
export interface VectorSpace {
  readonly collectionId: string;
  readonly dimensions: number;
  /** Vectors up to this change are of another model. */
  readonly firstChange: number;
  readonly lastChange: number;
}

/** Gives the codes of changes after `after` up to `upTo`, page by page. */
export type LoadCodes = (space: VectorSpace, after: number) => AsyncIterable<CodePage>;

/** Finds candidates among the vectors of a collection. */
export interface VectorIndex {
  /**
   * Seqs of the nearest, best first, by code only: compare their vectors to know their order. They may be of chunks that
   * are gone or not visible. undefined when the collection is too large for the memory it may take.
   */
  nearest(space: VectorSpace, query: Float32Array, count: number): Promise<readonly number[] | undefined>;
  close(): Promise<void>;
}
