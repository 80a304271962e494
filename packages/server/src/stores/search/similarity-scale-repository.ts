import type { VectorSetKey } from './embedding/vector-index.ts';
import type { SampledChunk, SimilarityScale } from './query/similarity-scale.ts';

/** The vectors that a scale was measured on. */
export interface MeasuredVectors {
  readonly collectionId: string;
  readonly model: string;
  /** Vectors up to this change belong to another model. */
  readonly firstChange: number;
  readonly lastChange: number;
}

export interface StoredScale extends MeasuredVectors, SimilarityScale {}

/** Stores what the similarities of each collection mean. A row is deleted with its collection. */
export interface SimilarityScaleRepository {
  find(collectionId: string): Promise<StoredScale | undefined>;
  /** Replaces the row of the collection. Does nothing when the collection is gone. */
  save(scale: StoredScale): Promise<void>;
  /** Returns pseudo-random chunks with their vectors; the same chunks each time for unchanged vectors. */
  sample(vectors: MeasuredVectors & VectorSetKey, limit: number): Promise<SampledChunk[]>;
}
