import type { VectorSpace } from '../embedding/vector-index.ts';
import type { VectorRepository } from '../vector-repository.ts';

/** Reads the vectors of a space: the seq and the numbers of each. */
export async function readAll(vectors: VectorRepository, space: VectorSpace): Promise<number[][]> {
  const read: number[][] = [];
  for await (const batch of vectors.readAfter(space, space.firstChange)) {
    for (const [place, seq] of batch.seqs.entries()) {
      read.push([seq, ...batch.vectors.subarray(place * space.dimensions, (place + 1) * space.dimensions)]);
    }
  }
  return read;
}
