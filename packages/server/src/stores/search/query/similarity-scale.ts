import { similarity } from '../embedding/vectors.ts';

/** What similarities mean in one collection. Models differ: an unrelated text may have 0 or 0.8. */
export interface SimilarityScale {
  /** The mean similarity of a probe and the other chunks. */
  readonly unrelated: number;
  /** The median similarity of a probe and its own chunk. */
  readonly related: number;
  /** How much vectors count beside words, from 0 to 1. */
  readonly weight: number;
  /** The share of the sampled chunks that have a vector. */
  readonly share: number;
}

/** A chunk of a random sample. Its vector is null when its text has none. */
export interface SampledChunk {
  readonly text: string;
  readonly vector: Float32Array | null;
}

/** The share of a chunk whose similarity is `related`. A right answer by words has about this score. Measured: ADR 0130. */
const relatedShare = 0.4;

/** Returns the similarity on the scale of the word scores, from 0 to `relatedShare`. */
export function shareOf({ unrelated, related }: SimilarityScale, value: number): number {
  const position = (value - unrelated) / Math.max(0.01, related - unrelated);
  return relatedShare * Math.min(1, Math.max(0, position)) ** 2;
}

/** The chunks that the probes are compared with, and the probes among them. */
export const sampleSizes = { chunks: 256, probes: 16 } as const;

/**
 * Measures the scale of a collection: it takes a few words from each of some chunks as a probe, embeds the probes like
 * questions and compares them with the sampled chunks. The vectors count in full if each probe finds its own chunk first.
 * @returns null when no chunk of the sample has a vector
 */
export async function measureScale(
  sample: readonly SampledChunk[],
  embedProbes: (texts: readonly string[]) => Promise<readonly Float32Array[]>,
): Promise<SimilarityScale | null> {
  const embedded = sample.flatMap(({ text, vector }) => (vector === null ? [] : [{ text, vector }]));
  if (embedded.length === 0) return null;
  const own: number[] = [];
  let [hits, sum, count] = [0, 0, 0];
  const probed = embedded.slice(0, sampleSizes.probes);
  const probes = await embedProbes(probed.map(({ text }) => probeOf(text)));
  for (const [place, probe] of probes.entries()) {
    const compared = embedded.map(({ vector }) => similarity(probe, vector));
    const [mine = 0] = compared.splice(place, 1);
    own.push(mine);
    if (mine > 0 && compared.every((other) => other <= mine)) hits += 1;
    sum += compared.reduce((total, other) => total + other, 0);
    count += compared.length;
  }
  return {
    unrelated: sum / Math.max(1, count),
    related: medianOf(own),
    weight: (hits / own.length) ** 2,
    share: embedded.length / sample.length,
  };
}

const wordsOfProbe = 12;
/** Characters of a probe. Texts without words, such as tables of numbers and signs, are cut here. */
const maxProbe = 400;
/** The longest part of a text that is segmented for a probe, in characters. */
export const maxProbedText = 4_000;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Takes words from the middle of a text. A whole text would be more similar to its own vector than any question. */
export function probeOf(text: string): string {
  const segments = [...segmenter.segment(text.slice(0, maxProbedText))];
  const places = segments.flatMap(({ isWordLike }, place) => (isWordLike === true ? [place] : []));
  const first = Math.max(0, Math.floor((places.length - wordsOfProbe) / 2));
  const chosen = places.slice(first, first + wordsOfProbe);
  const [start = 0, end = segments.length - 1] = [chosen[0], chosen.at(-1)];
  const probe = segments.slice(start, end + 1).map(({ segment }) => segment);
  return probe.join('').slice(0, maxProbe).toWellFormed();
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
