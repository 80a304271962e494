import type { RankedChunk } from '../chunk-index.ts';
import { type SimilarityScale, shareOf } from './similarity-scale.ts';

/** A result with its rank, from 1, in each ranking. */
export interface Hit<Stored = unknown> {
  readonly seq: number;
  /** Absent when the chunk has to be fetched by its number. */
  readonly chunk?: Stored;
  /** From 0 to 1. */
  readonly score: number;
  readonly words: { readonly rank: number; readonly score: number } | null;
  /** The rank is null when the vector ranking did not find the chunk. */
  readonly vector: { readonly rank: number | null; readonly similarity: number } | null;
}

export interface Near {
  readonly seq: number;
  readonly similarity: number;
}

export interface VectorRanking {
  /** Best first. */
  readonly nearest: readonly Near[];
  /** The similarities of all chunks that were compared: the nearest ones, and those that the words found. */
  readonly similarities: ReadonlyMap<number, number>;
  readonly scale: SimilarityScale;
}

/** How much the rankings count, relative to each other. */
export interface Weights {
  readonly words: number;
  readonly vectors: number;
}

/** With this exponent, the fused score is about the larger of both shares, and more if both are large. Measured: ADR 0130. */
const exponent = 4;

/** The score of a word ranking needs no change: words are the scale of all scores. */
export function rankByWords<Ranked extends RankedChunk>(words: readonly Ranked[]): Array<Ranked & Hit> {
  return words.map((each, place) => ({ ...each, words: { rank: place + 1, score: each.score }, vector: null }));
}

export function rankByVectors({ nearest, scale }: VectorRanking): Hit[] {
  return nearest.map(({ seq, similarity }, place) => ({
    seq,
    score: shareOf(scale, similarity),
    words: null,
    vector: { rank: place + 1, similarity },
  }));
}

/**
 * Fuses the shares of both rankings, which are absolute: neither depends on the other results. A chunk without a vector
 * keeps the score of its words. Equal scores are sorted by similarity.
 */
export function fuse(words: readonly RankedChunk[], vectors: VectorRanking, weights: Weights): Hit[] {
  const { nearest, similarities, scale } = vectors;
  const wordHits = new Map(words.map(({ seq, score }, place) => [seq, { rank: place + 1, score }]));
  const vectorRanks = new Map(nearest.map(({ seq }, place) => [seq, place + 1]));
  const largest = Math.max(weights.words, weights.vectors);
  const fused = [...new Set([...wordHits.keys(), ...vectorRanks.keys()])].map((seq) => {
    const byWords = wordHits.get(seq) ?? null;
    const similarity = similarities.get(seq);
    const ofWords = (weights.words / largest) * (byWords?.score ?? 0);
    const ofVector = similarity === undefined ? 0 : (weights.vectors / largest) * shareOf(scale, similarity);
    return {
      seq,
      score: Math.min(1, (ofWords ** exponent + ofVector ** exponent) ** (1 / exponent)),
      words: byWords,
      vector: similarity === undefined ? null : { rank: vectorRanks.get(seq) ?? null, similarity },
    };
  });
  const similarityOf = ({ vector }: Hit) => vector?.similarity ?? -1;
  return fused.sort((a, b) => b.score - a.score || similarityOf(b) - similarityOf(a) || a.seq - b.seq);
}
