import type { NearVectors } from '../embedding/vector-index.ts';
import { similarity } from '../embedding/vectors.ts';
import type { Near } from './fuse.ts';

/** What a comparison has found. */
export interface ComparedChunks {
  /** The nearest of the candidates, best first. */
  readonly nearest: readonly Near[];
  /** Whether no chunk that is not among them can be nearer. */
  readonly isComplete: boolean;
  /** The other chunks that were asked for and are not among the nearest. */
  readonly others: readonly Near[];
}

export interface Candidates {
  readonly query: Float32Array;
  readonly near: NearVectors;
  /** The maximum number of nearest chunks. */
  readonly limit: number;
  /** Chunks whose cosines are needed even if they are not among the nearest. */
  readonly others: readonly number[];
}

/** A chunk with its stored vector. */
export type ReadVector = readonly [seq: number, vector: Float32Array];

const maxPerStatement = 1000;

/**
 * Compares candidates in the order of their bounds until the worst result reaches the next bound, and then the other
 * chunks. It yields chunks and receives the vectors of those that the question may find. Each later part is half as large
 * as all before it, so that few vectors are read in vain.
 */
export function* compareCandidates({
  query,
  near: { seqs, bounds, rest },
  limit,
  others,
}: Candidates): Generator<readonly number[], ComparedChunks, readonly ReadVector[]> {
  const compare = ([seq, vector]: ReadVector): Near => ({ seq, similarity: similarity(query, vector) });
  let nearest: readonly Near[] = [];
  const isEnough = (bound: number) => (nearest[limit - 1]?.similarity ?? Number.NEGATIVE_INFINITY) >= bound;
  let from = 0;
  while (from < seqs.length && !isEnough(bounds[from] as number)) {
    const size = Math.min(maxPerStatement, Math.ceil(from === 0 ? 1.5 * limit : from / 2));
    const found = (yield [...seqs.subarray(from, from + size)]).map(compare);
    nearest = [...nearest, ...found].sort((a, b) => b.similarity - a.similarity || a.seq - b.seq).slice(0, limit);
    from += size;
  }
  const isComplete = from < seqs.length || rest === Number.NEGATIVE_INFINITY || isEnough(rest);
  const compared = new Set(nearest.map(({ seq }) => seq));
  const left = others.filter((seq) => !compared.has(seq));
  return { nearest, isComplete, others: left.length === 0 ? [] : (yield left).map(compare) };
}

/** Runs a comparison whose vectors are read synchronously. */
export function compareNow(
  candidates: Candidates,
  read: (seqs: readonly number[]) => readonly ReadVector[],
): ComparedChunks {
  const comparison = compareCandidates(candidates);
  let step = comparison.next();
  while (step.done !== true) step = comparison.next(read(step.value));
  return step.value;
}
