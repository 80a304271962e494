import type { ChunkFilter, ChunkIndex } from '../chunk-index.ts';
import type { VectorIndex, VectorSpace } from '../embedding/vector-index.ts';
import { similarity } from '../embedding/vectors.ts';
import type { VectorRepository } from '../vector-repository.ts';
import type { Near } from './fuse.ts';

export interface NearestChunksDeps {
  readonly chunks: Pick<ChunkIndex<unknown>, 'findVisible'>;
  readonly vectors: Pick<VectorRepository, 'vectors'>;
  readonly index: VectorIndex;
}

export interface NearestOf {
  readonly space: VectorSpace;
  readonly query: Float32Array;
  readonly limit: number;
  readonly filter: ChunkFilter | undefined;
}

/** A question whose candidates are not visible asks again for this many times as many. */
const growth = 8;
/** The candidates that are compared at once, after the first ones. */
const slice = 256;
const maxPerStatement = 1000;

/**
 * Finds the visible chunks whose vectors are nearest to the query, best first. Candidates of the index are compared exactly,
 * in the order of their bounds, until neither the next bound nor that of the rest reaches the worst result.
 * @returns undefined when the index cannot answer yet
 */
export async function findNearestChunks(deps: NearestChunksDeps, of: NearestOf): Promise<Near[] | undefined> {
  const { space, query, limit } = of;
  const near: Near[] = [];
  const compared = new Set<number>();
  for (let count = limit; ; count *= growth) {
    const { seqs, bounds, rest } = (await deps.index.nearest(space, query, count)) ?? {};
    if (seqs === undefined || bounds === undefined || rest === undefined) return undefined;
    const isEnough = (bound: number) => (near[limit - 1]?.similarity ?? Number.NEGATIVE_INFINITY) >= bound;
    for (
      let from = 0, size = limit + limit / 2;
      from < seqs.length;
      from += size, size = count > limit ? maxPerStatement : slice
    ) {
      if (isEnough(bounds[from] as number)) return near.slice(0, limit);
      const part = [...seqs.subarray(from, from + size)].filter((seq) => !compared.has(seq));
      for (const seq of part) compared.add(seq);
      near.push(...(await compare(deps, of, part)));
      near.sort((a, b) => b.similarity - a.similarity || a.seq - b.seq);
    }
    if (rest === Number.NEGATIVE_INFINITY || isEnough(rest)) return near.slice(0, limit);
  }
}

/** Compares the visible ones of some chunks with the query. */
async function compare(deps: NearestChunksDeps, of: NearestOf, seqs: readonly number[]): Promise<Near[]> {
  if (seqs.length === 0) return [];
  const { space, query, filter } = of;
  const reading = filter === undefined ? deps.vectors.vectors(space, seqs) : undefined;
  // An unhandled rejection of the one must not hide the error of the other.
  const [visible, early] = await Promise.all([deps.chunks.findVisible(seqs, filter), reading]);
  const stored =
    early ??
    (await deps.vectors.vectors(
      space,
      seqs.filter((seq) => visible.has(seq)),
    ));
  return [...stored].flatMap(([seq, vector]) =>
    visible.has(seq) ? [{ seq, similarity: similarity(query, vector) }] : [],
  );
}
