import type { RankedChunk } from '../chunk-index.ts';

/** A result with its rank, from 1, in each ranking. */
export interface Hit<Stored = unknown> {
  readonly seq: number;
  /** Absent when the chunk has to be fetched by its number. */
  readonly chunk?: Stored;
  /** From 0 to 1. */
  readonly score: number;
  readonly words: { readonly rank: number; readonly score: number } | null;
  readonly vector: { readonly rank: number; readonly similarity: number } | null;
}

/** Controls how fast lower ranks lose weight. Measured: ADR 0031. */
const smoothing = 10;

/**
 * Reciprocal rank fusion: each ranking contributes 1 / (smoothing + rank). The score is the sum divided by the sum of
 * two first ranks. Without vectors (null), the score is that of the full-text search.
 */
export function fuse(
  words: readonly RankedChunk[],
  vectors: ReadonlyArray<{ readonly seq: number; readonly similarity: number }> | null,
): Hit[] {
  const hits = new Map<number, Hit>();
  for (const [place, { seq, score }] of words.entries()) {
    hits.set(seq, { seq, score, words: { rank: place + 1, score }, vector: null });
  }
  if (vectors === null) return [...hits.values()];
  for (const [place, { seq, similarity }] of vectors.entries()) {
    const known = hits.get(seq) ?? { seq, score: 0, words: null };
    hits.set(seq, { ...known, vector: { rank: place + 1, similarity } });
  }
  const share = (ranked: { readonly rank: number } | null) => (ranked === null ? 0 : 1 / (smoothing + ranked.rank));
  const most = 2 / (smoothing + 1);
  const fused = [...hits.values()].map((hit) => ({
    ...hit,
    score: Math.min(1, (share(hit.words) + share(hit.vector)) / most),
  }));
  return fused.sort((a, b) => b.score - a.score || a.seq - b.seq);
}
