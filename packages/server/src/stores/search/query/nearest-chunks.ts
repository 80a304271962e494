import type { VectorIndex } from '../embedding/vector-index.ts';
import type { VectorComparison, VectorRepository } from '../vector-repository.ts';
import type { ComparedChunks } from './compare-candidates.ts';

export interface NearestChunksDeps {
  readonly vectors: Pick<VectorRepository, 'compare'>;
  readonly index: VectorIndex;
}

/** If too few candidates are visible, the question asks the index for this many times as many. */
const growth = 8;

/**
 * Finds the visible chunks whose vectors are nearest to the query, and compares the others. The first answer of the index is
 * enough for most questions. A longer one contains its candidates, which are then compared again.
 * @returns undefined when the vectors are not in memory
 */
export async function findNearestChunks(
  { vectors, index }: NearestChunksDeps,
  of: Omit<VectorComparison, 'near'>,
): Promise<ComparedChunks | undefined> {
  for (let count = of.limit; ; count *= growth) {
    const near = await index.nearest(of.space, of.query, count);
    const compared = near && (await vectors.compare({ ...of, near }));
    if (compared === undefined || compared.isComplete) return compared;
  }
}
